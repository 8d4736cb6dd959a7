package verify

import (
	"path"
	"slices"
	"strings"
)

// knownBase is what can be said of a base image without asking a registry. All
// of it has held for every version of these images.
type knownBase struct {
	shell    bool // it may have a shell
	programs bool // it may have programs that an image would start
	own      bool // it may have files outside the usual directories of a Linux system
	starts   bool // it may have an entrypoint

	user   string         // its USER as uid, "0" where it has none; "" is unknown
	users  map[string]int // all that its /etc/passwd has; the primary group has the same number. nil is unknown
	groups map[string]int // all that its /etc/group may have; nil is unknown
}

// distrolessUsers are the accounts of gcr.io/distroless.
var distrolessUsers = map[string]int{"root": 0, "nobody": 65534, "nonroot": 65532}

var distrolessGroups = map[string]int{"root": 0, "tty": 5, "staff": 50, "nobody": 65534, "nonroot": 65532}

// knownAs finds what is known of a base by its reference, nil where nothing is.
func knownAs(ref string) *knownBase {
	name, tag := splitRef(ref)
	if family, ok := strings.CutPrefix(name, "gcr.io/distroless/"); ok {
		return distroless(family, tag)
	}
	switch name {
	case "registry.k8s.io/build-image/go-runner":
		return &knownBase{programs: true, own: true, starts: true}
	case "cgr.dev/chainguard/static", "cgr.dev/chainguard/glibc-dynamic":
		if !strings.Contains(tag, "dev") {
			return &knownBase{programs: true, starts: true, user: "65532"}
		}
	}
	return nil
}

func distroless(family, tag string) *knownBase {
	family, _, _ = strings.Cut(family, "-debian")
	plain := slices.Contains([]string{"static", "base", "base-nossl", "cc"}, family)
	debug := strings.Contains(tag, "debug")
	b := &knownBase{
		shell:    debug || !plain && !strings.HasPrefix(family, "nodejs") && !strings.HasPrefix(family, "java"),
		programs: debug || family != "static", own: debug || !plain, starts: debug || !plain,
		users: distrolessUsers, groups: distrolessGroups,
	}
	switch {
	case strings.Contains(tag, "nonroot"):
		b.user = "65532"
	case tag != "" && plain:
		b.user = "0"
	}
	return b
}

// splitRef takes a reference apart. A missing tag is latest, but with a digest
// it is unknown.
func splitRef(ref string) (name, tag string) {
	name, _, pinned := strings.Cut(ref, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name[:i], name[i+1:]
	}
	if pinned {
		return name, ""
	}
	return name, "latest"
}

// topDirs are the directories at the top of a Linux system.
var topDirs = []string{
	"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root",
	"run", "sbin", "srv", "sys", "tmp", "usr", "var",
}

// programDirs hold programs. On some systems the first two are links to those
// that follow, or all four are one.
var programDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin"}

var shellNames = []string{"sh", "ash", "bash", "dash", "zsh", "ksh", "busybox"}

// has reports whether the base may have something at a path.
func (b *knownBase) has(p string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	if !slices.Contains(topDirs, top) {
		return b.own
	}
	dir, name := path.Dir(p), path.Base(p)
	if !slices.Contains(programDirs, dir) && dir != "/usr/local/bin" && dir != "/usr/local/sbin" {
		return true
	}
	return b.programs && (b.shell || !slices.Contains(shellNames, name))
}

// ground is what a tree stands on. The zero value is nothing at all.
type ground struct {
	any  bool       // whatever it may be
	base *knownBase // otherwise this, or nothing
}

// has reports whether there may be something at a path. What a runtime mounts
// may always be there.
func (g ground) has(p string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return g.any || top == "dev" || top == "proc" || top == "sys" || g.base != nil && g.base.has(p)
}
