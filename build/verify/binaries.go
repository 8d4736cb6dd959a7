package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// binaries knows where the binaries of commands lie, as the context sees them.
type binaries struct {
	form     string // path of a binary; "" where the context holds none
	dir      string // the directory that the form begins with; "" is none
	commands []string
	planned  []platform.Platform
	pattern  *regexp.Regexp // what has the form
	made     []made         // of every command on every planned platform

	at   map[madeKey]*made // made by what it is made of
	file map[string]bool   // every path of made
	dirs map[string]bool   // every directory that holds one, however deep
}

type madeKey struct {
	command string
	p       platform.Platform
}

// made is one binary: the same file under each of its names.
type made struct {
	command string
	p       platform.Platform
	short   string // its path without architecture
	paths   []string
}

// binariesOf lists those of every subject, made once for all that have the same:
// there may be as many commands as images.
func binariesOf(subjects []Subject) []binaries {
	list := make([]binaries, len(subjects))
	for i, s := range subjects {
		like := slices.IndexFunc(subjects[:i], func(o Subject) bool {
			return s.Planned != nil && o.Bin == s.Bin && o.Context == s.Context &&
				slices.Equal(o.Commands, s.Commands) && slices.Equal(o.Planned, s.Planned)
		})
		if like >= 0 {
			list[i] = list[like]
		} else {
			list[i] = newBinaries(s)
		}
	}
	return list
}

func newBinaries(s Subject) binaries {
	b := binaries{commands: s.Commands, planned: s.Planned}
	for _, r := range s.Recipes {
		if s.Planned == nil && r != nil {
			b.planned = append(b.planned, r.Platform)
		}
	}
	form := path.Clean(s.Bin)
	if s.Context != "" && s.Context != "." {
		rest, ok := strings.CutPrefix(form, path.Clean(s.Context)+"/")
		if !ok {
			return b
		}
		form = rest
	}
	if s.Bin == "" {
		return b
	}
	b.form = form
	if literal, _, ok := strings.Cut(form, "{"); ok {
		b.dir = strings.Trim(literal[:strings.LastIndex(literal, "/")+1], "/")
	}
	b.pattern = compile(form)
	for _, c := range b.commands {
		short := strings.TrimRight(platform.Platform{OS: "linux"}.Expand(form, c), "-_./")
		for _, p := range b.planned {
			b.made = append(b.made, made{c, p, short, b.expand(c, p)})
		}
	}
	b.index()
	return b
}

// index makes what there is one of for every image, command and platform quick
// to find: the rules ask for each of them.
func (b *binaries) index() {
	b.at, b.file, b.dirs = make(map[madeKey]*made, len(b.made)), map[string]bool{}, map[string]bool{}
	for i := range b.made {
		m := &b.made[i]
		if b.at[madeKey{m.command, m.p}] == nil {
			b.at[madeKey{m.command, m.p}] = m
		}
		for _, file := range m.paths {
			b.file[file] = true
			for dir := path.Dir(file); !b.dirs[dir] && dir != "." && dir != "/"; dir = path.Dir(dir) {
				b.dirs[dir] = true
			}
		}
	}
}

// compile makes a pattern with a group for the first of each placeholder.
func compile(form string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	seen := map[string]bool{}
	for form != "" {
		at := placeholder.FindStringIndex(form)
		if at == nil {
			b.WriteString(regexp.QuoteMeta(form))
			break
		}
		name := form[at[0]+1 : at[1]-1]
		group := "(?P<" + name + ">"
		if seen[name] {
			group = "(?:"
		}
		seen[name] = true
		b.WriteString(regexp.QuoteMeta(form[:at[0]]) + group + parts[name] + ")")
		form = form[at[1]:]
	}
	return regexp.MustCompile(b.String() + "$")
}

var placeholder = regexp.MustCompile(`\{(?:name|os|arch|variant)\}`)

var parts = map[string]string{
	"name": `[^/]+`, "os": `(?:linux|darwin|windows|(?:free|net|open)bsd|[a-z]*solaris|illumos|android|aix|plan9|js|wasip1)`, "arch": `[A-Za-z0-9_]+?`, "variant": `[a-z0-9.]*`,
}

// paths are the names of a command's binary for p: with the variant, and
// without it as long as one variant of the architecture is planned.
func (b binaries) paths(command string, p platform.Platform) []string {
	if m := b.at[madeKey{command, p}]; m != nil {
		return m.paths
	}
	if b.form == "" {
		return nil
	}
	return b.expand(command, p) // of an image on a platform that is not planned
}

func (b binaries) expand(command string, p platform.Platform) []string {
	list := []string{p.Expand(b.form, command)}
	if bare := (platform.Platform{OS: p.OS, Arch: p.Arch}); p.Variant != "" && b.variants(p) == 1 {
		list = append(list, bare.Expand(b.form, command))
	}
	return list
}

// path is the full name of a command's binary for p.
func (b binaries) path(command string, p platform.Platform) string {
	list := b.paths(command, p)
	if list == nil {
		return ""
	}
	return list[0]
}

// variants counts the planned platforms of p's architecture.
func (b binaries) variants(p platform.Platform) int {
	n := 0
	for _, q := range b.planned {
		if q.OS == p.OS && q.Arch == p.Arch {
			n++
		}
	}
	return n
}

// makes reports whether a command's binary for p is written to file.
func (b binaries) makes(file string, p platform.Platform) bool {
	return slices.ContainsFunc(b.commands, func(c string) bool { return slices.Contains(b.paths(c, p), file) })
}

// contains reports whether file is below the directory of binaries.
func (b binaries) contains(file string) bool {
	return b.dir != "" && strings.HasPrefix(file, b.dir+"/")
}

func (b binaries) command(name string) bool { return slices.Contains(b.commands, name) }

// parse takes a path of the form apart. The platform has no variant where the
// path names none.
func (b binaries) parse(file string) (name string, p platform.Platform, ok bool) {
	if b.pattern == nil {
		return "", p, false
	}
	m := b.pattern.FindStringSubmatch(file)
	if m == nil {
		return "", p, false
	}
	get := func(group string) string {
		if i := b.pattern.SubexpIndex(group); i >= 0 {
			return m[i]
		}
		return ""
	}
	arch, variant := get("arch"), get("variant")
	for _, text := range []string{arch + variant, arch + "/" + variant} {
		if p, ok = platform.Named(text); ok {
			return get("name"), p, true
		}
	}
	for _, q := range b.planned {
		if q.Suffix() == arch+variant {
			return get("name"), q, true
		}
	}
	return "", p, false
}

// archless is the command whose binary a path means without saying for which
// architecture: bin/app, bin/linux/app, bin/app-linux.
func (b binaries) archless(file string) (command string, ok bool) {
	if !b.contains(file) {
		return "", false
	}
	base := path.Base(file)
	for i := range b.made {
		if c := b.made[i].command; file == b.made[i].short || base == c && len(named(path.Dir(file))) == 0 {
			return c, true
		}
	}
	return "", false
}

// variable is the path of a command's binary with variables for the platform,
// as a Dockerfile would write it.
func (b binaries) variable(command string) string {
	p := platform.Platform{OS: "linux", Arch: "${TARGETARCH}"}
	if slices.ContainsFunc(b.planned, func(q platform.Platform) bool { return b.variants(q) > 1 }) {
		p.Variant = "${TARGETVARIANT}"
	}
	return p.Expand(b.form, command)
}

// all is a pattern for the binaries of a command on every platform.
func (b binaries) all(command string) string {
	return platform.Platform{OS: "linux", Arch: "*"}.Expand(b.form, command)
}

// below reports whether binaries are planned below a directory.
func (b binaries) below(dir string) bool { return b.dirs[dir] }

// taken lists the commands of whose binaries a source takes any.
func (b binaries) taken(source string) []string {
	var list []string
	for _, m := range b.made {
		if !slices.Contains(list, m.command) && slices.ContainsFunc(m.paths, func(file string) bool { return takes(source, file) }) {
			list = append(list, m.command)
		}
	}
	return list
}
