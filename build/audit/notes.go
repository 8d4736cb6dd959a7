package audit

import (
	"fmt"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// What to do about findings that have a cause in common.
const (
	fixLost     = "build and push this leg again, then make manifest"
	fixPlatform = "build the leg with its platform given; never annotate an index by hand"
	fixBase     = "name the base by a tag or digest of its index, not of one platform's image, and pin no --platform on the last FROM"
	fixBinary   = "copy the binary of this platform: ARG TARGETARCH in the stage, COPY bin/<name>-linux-${TARGETARCH}; make verify names the line"
	fixLoader   = "compile with CGO_ENABLED=0 and without -buildmode=pie, or build on a base that has it"
	fixLibrary  = "install the library in the image, or compile with CGO_ENABLED=0"
	fixEntry    = "name a program of the image in ENTRYPOINT, with its full path"
	fixShell    = `write it in exec form, ENTRYPOINT ["/app"], or build on a base with a shell`
	fixScript   = "install the interpreter in the image, or name one that is there"
	fixMode     = "COPY --chmod=0755, or give it to the image's user with --chown"
	fixUser     = "write USER as numbers, or COPY an /etc/passwd that has the user"
)

// note is a finding before its platform, and before others like it are joined.
type note struct {
	path, text, fix string // path is "" for the image as a whole
	notChecked      bool
}

// notes are findings in the order in which they were made.
type notes struct {
	noted []note
	have  map[note]bool
}

func (n *notes) wrong(fix, path, form string, args ...any) {
	n.add(note{path: path, text: fmt.Sprintf(form, args...), fix: fix})
}

func (n *notes) unsure(path, form string, args ...any) {
	n.add(note{path: path, text: fmt.Sprintf(form, args...), notChecked: true})
}

func (n *notes) add(one note) {
	if n.have[one] {
		return
	}
	if n.have == nil {
		n.have = map[note]bool{}
	}
	n.have[one] = true
	n.noted = append(n.noted, one)
}

// manyPaths is how many files a finding names before it only counts them.
const manyPaths = 3

// list makes findings of the notes: what is said of several files is one.
func (l *look) list() []Finding {
	var found []Finding
	paths := map[note][]string{}
	for _, n := range l.noted {
		key := n
		key.path = ""
		paths[key] = append(paths[key], n.path)
	}
	for _, n := range l.noted {
		key := n
		key.path = ""
		list, first := paths[key]
		if !first {
			continue
		}
		delete(paths, key)
		found = append(found, finding(l.want, key, list))
	}
	return found
}

func finding(p platform.Platform, n note, paths []string) Finding {
	f := Finding{Platform: p, Message: n.text, NotChecked: n.notChecked, Fix: n.fix}
	if paths[0] == "" {
		return f
	}
	more := ""
	if len(paths) > manyPaths {
		more = fmt.Sprintf(" and %d more", len(paths)-manyPaths)
		paths = paths[:manyPaths]
	}
	f.Message = strings.Join(paths, ", ") + more + ": " + n.text
	return f
}
