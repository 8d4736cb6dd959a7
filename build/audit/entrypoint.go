package audit

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

// defaultPath is what a runtime searches where the image sets no PATH
// (moby/moby, daemon/pkg/oci, DefaultPathEnv).
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// entrypoint judges what a container of the image starts: the first word of
// ENTRYPOINT and CMD. An image without either is started with a command of the
// user's own, or holds data.
func (l *look) entrypoint() {
	c := l.config.Config
	argv := append(slices.Clone(c.Entrypoint), c.Cmd...)
	if len(argv) == 0 {
		return
	}
	what := "ENTRYPOINT"
	if len(c.Entrypoint) == 0 {
		what = "CMD"
	}
	if argv[0] == "" {
		l.wrong(fixEntry, "", "%s is an empty word", what)
		return
	}
	fix := fixEntry
	if len(argv) == 3 && argv[1] == "-c" && path.IsAbs(argv[0]) {
		what, fix = what+" in shell form:", fixShell
	}
	if _, err := strconv.Atoi(userName(c.User)); err != nil && l.atHand("/etc/passwd") {
		l.user() // for its finding
	}
	if p, n := l.command(argv[0], what, fix); n != nil {
		l.start(p, n, 0)
	}
}

// command finds the program that a word names, as a runtime does: by its path,
// from WORKDIR where it is relative, or by PATH. nil is a finding.
func (l *look) command(word, what, fix string) (string, *rootfs.Node) {
	candidates := []string{l.fromWorkdir(word)}
	if !strings.Contains(word, "/") {
		candidates = nil
		for _, dir := range l.searchPath() {
			candidates = append(candidates, path.Join(dir, word))
		}
	}
	var refused *note // the first that is there and cannot be started
	for _, p := range candidates {
		at, n, no := l.startable(p, what)
		if n != nil {
			return at, n
		}
		if refused == nil {
			refused = no
		}
	}
	switch {
	case refused != nil:
		l.add(*refused)
	case l.partial:
		l.unsure("", "%s %s is not in the layers that could be read", what, word)
	case strings.Contains(word, "/"):
		l.wrong(fix, "", "%s %s is not in the image", what, candidates[0])
	default:
		l.wrong(fix, "", "%s %s is nowhere in PATH (%s)", what, word, strings.Join(l.searchPath(), ":"))
	}
	return "", nil
}

// startable is the file that p leads to, if the image's user may start it. no
// says what is in the way, and is nil where nothing is there.
func (l *look) startable(p, what string) (at string, _ *rootfs.Node, no *note) {
	at, err := l.tree.Resolve("/", p, true)
	if err != nil {
		return at, nil, &note{text: what + " " + p + ": " + cause(err), fix: fixEntry}
	}
	n, err := l.tree.Lstat(at)
	switch {
	case err != nil && at != p:
		return at, nil, l.missing(what, p, at)
	case err != nil:
		return at, nil, nil
	case n.IsDir():
		return at, nil, &note{text: what + " " + p + " is a directory", fix: fixEntry}
	case !n.Mode.IsRegular():
		return at, nil, &note{text: what + " " + p + " is no regular file", fix: fixEntry}
	}
	if why := l.mayStart(at, n); why != "" {
		return at, nil, &note{text: what + " " + p + " " + why, fix: fixMode}
	}
	return at, n, nil
}

// missing is a link that leads nowhere.
func (l *look) missing(what, p, at string) *note {
	if n, err := l.tree.Lstat(p); err != nil || !n.IsLink() {
		return nil
	}
	if l.partial {
		return &note{text: what + " " + p + " is a link to " + at + ", which is not in the layers that could be read", notChecked: true}
	}
	return &note{text: what + " " + p + " is a link to " + at + ", which is not in the image", fix: fixEntry}
}

// start judges a file that is started, and follows a script to what runs it.
func (l *look) start(p string, n *rootfs.Node, depth int) {
	c, ok := n.Data.(*content)
	switch {
	case n.Size == 0:
		l.wrong(fixEntry, p, "is started, and is empty")
		return
	case !ok:
		l.unsure(p, "a sparse file, which is not read")
		return
	case c.head() == "":
		return // of a base that is known to be for this platform
	}
	r, err := c.section()
	switch {
	case err != nil:
		l.unsure(p, "%v", err)
	case strings.HasPrefix(c.head(), "#!"):
		if !l.mayRead(n) {
			l.wrong(fixMode, p, "a script that its user %s cannot read", l.config.Config.User)
		}
		l.script(p, first(r, maxShebang), depth)
	case !l.judged[n]:
		l.judged[n] = true
		l.started(p, Inspect(r))
	}
}

// started judges a program that is no script. What runs elsewhere differs in
// more than one way, and the first one says it.
func (l *look) started(p string, program Program) {
	found := program.Judge(l.want, BinaryOptions{CGO: true})
	if program.Format == ELF {
		l.programs++
		if program.ELF != l.want.ELF() {
			found = found[:1]
		}
	}
	for _, f := range found {
		l.add(note{path: p, text: f.Message, notChecked: f.NotChecked, fix: fixOf(f)})
	}
	if program.ELF == l.want.ELF() {
		l.link(p, program, true)
	}
}

// fromWorkdir is a path as a process in WORKDIR means it.
func (l *look) fromWorkdir(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join("/", l.config.Config.WorkingDir, p)
}

// searchPath are the directories of PATH, absolute.
func (l *look) searchPath() []string {
	list, ok := l.env("PATH")
	if !ok {
		list = defaultPath
	}
	var dirs []string
	for _, dir := range strings.Split(list, ":") {
		dirs = append(dirs, l.fromWorkdir(dir))
	}
	return dirs
}

// env is a variable of the image. Of several values the last counts.
func (l *look) env(name string) (value string, ok bool) {
	for _, kv := range l.config.Config.Env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			value, ok = v, true
		}
	}
	return value, ok
}
