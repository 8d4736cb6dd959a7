package adopt

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Makefile is what the Makefile of a repository says, without running make: what
// it computes is not known.
type Makefile struct {
	Name      string            // "Makefile" where there is none
	Exists    bool              //
	Targets   []string          // that it has rules for, in its order
	Variables map[string]string // that it sets, with the text it sets them to last
	Adopted   bool              // it includes archmage.mk already
	Tools     bool              // by way of the tools module
}

// makefileNames are what GNU make looks for, in its order.
var makefileNames = []string{"GNUmakefile", "makefile", "Makefile"}

// ReadMakefile reads the Makefile in the root, and the files that it includes by
// a plain name. Archmage's own lines count for nothing but that they are there. One
// that cannot be read exists, and says nothing.
func ReadMakefile(fsys fs.FS) Makefile {
	m := Makefile{Name: "Makefile", Variables: map[string]string{}}
	for _, name := range makefileNames {
		data, err := fs.ReadFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if m.Name, m.Exists = name, true; err != nil {
			break // behind a link that leads elsewhere, for one
		}
		r := makeReader{Makefile: &m, fsys: fsys, seen: []string{name}}
		theirs, ours := cutBlock(string(data))
		r.read(theirs)
		m.Adopted = m.Adopted || ours != ""
		m.Tools = m.Adopted && strings.Contains(string(data), ToolsMod)
		break
	}
	return m
}

type makeReader struct {
	*Makefile
	fsys fs.FS
	seen []string // files, so that two that include each other come to an end
}

var (
	assignment = regexp.MustCompile(`^(?:(?:export|override|private)\s+)*([A-Za-z0-9_.-]+)\s*(?:\?|\+|!|:{1,3})?=\s*(.*)$`)
	perTarget  = regexp.MustCompile(`^\s*(?:(?:export|override|private)\s+)*[A-Za-z0-9_.-]+\s*(?:\?|\+|!|:{1,3})?=`)
	inclusion  = regexp.MustCompile(`^[-s]?include\s+(.*)$`)
	comment    = regexp.MustCompile(`(^|[^\\])#.*$`)
)

func (r *makeReader) read(text string) {
	defining := 0
	for _, line := range logical(text) {
		if strings.HasPrefix(line, "\t") {
			continue // of a recipe
		}
		line = strings.TrimSpace(comment.ReplaceAllString(line, "$1"))
		switch {
		case strings.HasPrefix(line, "endef"):
			defining--
		case strings.HasPrefix(line, "define "):
			defining++
		case line == "" || defining > 0:
		case inclusion.MatchString(line):
			r.include(strings.Fields(inclusion.FindStringSubmatch(line)[1]))
		case assignment.MatchString(line):
			set := assignment.FindStringSubmatch(line)
			r.Variables[set[1]] = strings.TrimSpace(set[2])
		default:
			r.rule(line)
		}
	}
}

// logical are the lines of a file with those joined that a backslash continues.
func logical(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n")
}

func (r *makeReader) include(files []string) {
	for _, name := range files {
		if path.Base(name) == MakefileLibrary {
			r.Adopted = true
		}
		name = path.Clean(name)
		if slices.Contains(r.seen, name) || !fs.ValidPath(name) {
			continue
		}
		r.seen = append(r.seen, name)
		if data, err := fs.ReadFile(r.fsys, name); err == nil {
			r.read(string(data))
		}
	}
}

// rule remembers what a line gives rules for. A target-specific variable is none.
func (r *makeReader) rule(line string) {
	at := colon(line)
	if at < 0 || perTarget.MatchString(strings.TrimLeft(line[at:], ":")) {
		return
	}
	for _, name := range strings.Fields(strings.TrimSuffix(line[:at], "&")) {
		if !strings.ContainsAny(name, "$%") && !strings.HasPrefix(name, ".") && !slices.Contains(r.Targets, name) {
			r.Targets = append(r.Targets, name)
		}
	}
}

// colon finds the first one that is in no reference to a variable; -1 is none.
func colon(line string) int {
	depth := 0
	for i, c := range line {
		switch {
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case c == ':' && depth == 0:
			return i
		}
	}
	return -1
}

// Has reports whether there is a rule for a target.
func (m Makefile) Has(target string) bool { return slices.Contains(m.Targets, target) }

// Words are the words of a variable whose value is plain text; nil otherwise.
func (m Makefile) Words(variable string) []string {
	value := m.Variables[variable]
	if strings.Contains(value, "$") {
		return nil
	}
	return strings.Fields(value)
}
