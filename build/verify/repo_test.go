package verify

import (
	"context"
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// repo is a repository in a test: a txtar archive whose comment holds settings,
// one a line, and whose files are the repository's.
//
//	platforms: linux/amd64 linux/arm64   (the default)
//	planned: …                           (the default is platforms)
//	commands: app tool                   (the default is app)
//	dockerfile: build/x/Dockerfile       (the default is Dockerfile)
//	context: build                       (the default is the root)
//	target: stage
//	args: KEY=value
//	bin: form
//	out: dist                            archmage's output directory (the default is none)
//	elf: path arch [REL]                 an ELF header to write
//	mode: path 0644                      of a file or directory (the default is 0755)
//	lint: yes                            BuildKit's rules too
//	severity: Rule=error
//	base: ref index|image platform…      what a registry says of a base
type repo struct {
	root     string
	settings map[string][]string
	elf      [][]string
	bases    map[string]BaseAnswer
	modes    [][]string
}

func newRepo(t testing.TB, comment []byte, files []txtar.File) *repo {
	t.Helper()
	r := &repo{root: t.TempDir(), settings: map[string][]string{
		"platforms": {"linux/amd64", "linux/arm64"}, "commands": {"app"}, "dockerfile": {"Dockerfile"}, "context": {""},
		"target": {""}, "bin": {"bin/{name}-{os}-{arch}{variant}"},
	}}
	for line := range strings.Lines(string(comment)) {
		key, value, ok := strings.Cut(line, ":")
		switch {
		case !ok:
		case key == "elf":
			r.elf = append(r.elf, strings.Fields(value))
		case key == "base":
			r.base(t, strings.Fields(value))
		case key == "mode":
			r.modes = append(r.modes, strings.Fields(value))
		default:
			r.settings[key] = strings.Fields(value)
		}
	}
	for _, f := range files {
		r.write(t, f.Name, f.Data)
	}
	for _, e := range r.elf {
		r.write(t, e[0], header(t, e[1:]))
	}
	for _, m := range r.modes {
		bits, err := strconv.ParseUint(m[1], 8, 32)
		if err == nil {
			err = os.Chmod(filepath.Join(r.root, filepath.FromSlash(m[0])), fs.FileMode(bits))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *repo) base(t testing.TB, words []string) {
	t.Helper()
	list, _, err := platform.ParseList(strings.Join(words[2:], " "))
	if err != nil {
		t.Fatal(err)
	}
	if r.bases == nil {
		r.bases = map[string]BaseAnswer{}
	}
	r.bases[words[0]] = BaseAnswer{Digest: "sha256:" + strings.Repeat("5", 64), Index: words[1] == "index", Platforms: list}
}

func (r *repo) write(t testing.TB, name string, data []byte) {
	t.Helper()
	file := filepath.Join(r.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if target, ok := strings.CutPrefix(string(data), "-> "); ok {
		if err := os.Symlink(strings.TrimSpace(target), file); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(file, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// header is the beginning of an ELF file: an architecture or a machine's
// number, and a type where it is no program.
func header(t testing.TB, words []string) []byte {
	t.Helper()
	is := platform.ELF{Class: elf.ELFCLASS64, Data: elf.ELFDATA2LSB, Machine: elf.EM_BPF}
	if words[0] != "bpf" {
		p, ok := platform.Named(words[0])
		if !ok {
			t.Fatalf("no architecture %s", words[0])
		}
		is = p.ELF()
	}
	kind := elf.ET_EXEC
	if slices.Contains(words, "REL") {
		kind = elf.ET_REL
	}
	h := make([]byte, 64)
	copy(h, elf.ELFMAG)
	h[elf.EI_CLASS], h[elf.EI_DATA], h[elf.EI_VERSION] = byte(is.Class), byte(is.Data), 1
	order := is.ByteOrder()
	order.PutUint16(h[16:], uint16(kind))
	order.PutUint16(h[18:], uint16(is.Machine))
	return h
}

func (r *repo) platforms(t testing.TB, key string) []platform.Platform {
	t.Helper()
	list, _, err := platform.ParseList(strings.Join(r.settings[key], " "))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// subject evaluates the Dockerfile for every platform.
func (r *repo) subject(t testing.TB, image string) (Subject, error) {
	t.Helper()
	return r.evaluate(t, image, nil)
}

// evaluate is subject with contents that count instead of those of the files.
func (r *repo) evaluate(t testing.TB, image string, over map[string][]byte) (Subject, error) {
	t.Helper()
	get := func(key string) string { return strings.Join(r.settings[key], " ") }
	root, err := os.OpenRoot(r.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	s := Subject{
		Image: image, Root: root.FS(), Dir: root, Context: get("context"), Bin: get("bin"), Out: get("out"),
		Commands: r.settings["commands"], Planned: r.platforms(t, "planned"), Bases: r.bases,
	}
	args := map[string]string{}
	for _, a := range r.settings["args"] {
		key, value, _ := strings.Cut(a, "=")
		args[key] = value
	}
	for _, p := range r.platforms(t, "platforms") {
		rec, err := dockerfile.Evaluate(context.Background(), dockerfile.Input{
			Root: r.root, Context: filepath.Join(r.root, filepath.FromSlash(s.Context)),
			Dockerfile: get("dockerfile"),
			Platform:   p, BuildPlatform: platform.Platform{OS: "linux", Arch: "amd64"},
			Target: get("target"), Args: args, MultiPlatform: true, Omit: []string{"dist"},
			Overlay: over,
		})
		if err != nil {
			return s, err
		}
		s.Recipes = append(s.Recipes, rec)
	}
	return s, nil
}

// options are those of a case for a rule: where that is only advice, it is
// asked for. BuildKit's rules are off unless the case is about them.
func (r *repo) options(t testing.TB, rule string) Options {
	t.Helper()
	o := Options{Severity: map[string]Severity{}}
	for _, row := range table() {
		o.Pedantic = o.Pedantic || row.Name == rule && row.Pedantic
	}
	if r.settings["lint"] == nil {
		for _, l := range dockerfile.LintRules() {
			o.Severity[l.Name] = Off
		}
	}
	for _, s := range r.settings["severity"] {
		name, value, _ := strings.Cut(s, "=")
		o.Severity[name] = Severity(value)
	}
	return o
}

// Case judges a repository as a case of a rule does. It is for tests outside of
// the package, which may use those that import it.
func Case(t testing.TB, rule string, comment []byte, files []txtar.File) ([]Finding, Subject) {
	t.Helper()
	r := newRepo(t, comment, files)
	s, err := r.subject(t, "app")
	if err != nil {
		t.Fatal(err)
	}
	return Check([]Subject{s}, r.options(t, rule)), s
}
