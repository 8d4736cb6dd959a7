package verify

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// parentIgnoreFile is ParentIgnoreFile. What counts is <Dockerfile>.dockerignore
// beside the Dockerfile, else .dockerignore in the root of the context.
func parentIgnoreFile(s *state) []Finding {
	var wrong []spot
	for _, r := range s.judged() {
		if len(r.File.Stages) == 0 {
			continue
		}
		if name := path.Join(path.Dir(r.Dockerfile), ".dockerignore"); s.unread(name, r.Ignore.Path) {
			wrong = append(wrong, spot{r, &r.File.Stages[0].From, name})
		}
	}
	var list []Finding
	for _, group := range bySpot(wrong) {
		f := s.found(group, "does not read", "do not read")
		r, name := group[0].r, group[0].what
		own := r.Dockerfile + ".dockerignore"
		context := cmp.Or(path.Clean(s.Context), ".")
		if context == "." {
			context = "the root of the repository"
		}
		f.Message += ": the context is " + context
		f.Fix = own + " instead of " + name + ", with patterns relative to the context"
		if r.Ignore.Path == own {
			f.Message += ", and " + own + " counts alone"
		}
		list = append(list, f)
	}
	return list
}

// unread reports whether an ignore file keeps something away, but not here. One
// that says the same as the file that counts misses nothing, and one in the
// context of another image is that one's.
func (s *state) unread(name, counts string) bool {
	if s.Root == nil || name == counts || path.Dir(name) == path.Clean(s.Context) || slices.Contains(s.contexts, path.Dir(name)) {
		return false
	}
	data, err := fs.ReadFile(s.Root, name)
	if err != nil || !hasPatterns(data) {
		return false
	}
	if counts == "" {
		return true
	}
	read, err := fs.ReadFile(s.Root, counts)
	return err != nil || !bytes.Equal(read, data)
}

func hasPatterns(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}
