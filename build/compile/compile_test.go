package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

var (
	amd64 = platform.Platform{OS: "linux", Arch: "amd64"}
	arm64 = platform.Platform{OS: "linux", Arch: "arm64"}
	armv6 = platform.Platform{OS: "linux", Arch: "arm", Variant: "v6"}
)

// repo is a module with commands that import nothing, and a place for results.
type repo struct {
	*testing.T
	Options
	events []Event
}

func newRepo(t *testing.T, names ...string) *repo {
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOTOOLCHAIN", "local")
	t.Setenv("GOPROXY", "off")
	root := t.TempDir()
	r := &repo{T: t, Options: Options{Root: root, Keep: filepath.Join(root, "dist", "keep"), LDFlags: "-s -w"}}
	r.Event = func(e Event) { r.events = append(r.events, e) }
	r.write("go.mod", "module example.com/m\n\ngo 1.21\n")
	for _, name := range names {
		r.main(name, `println("`+name+`")`)
	}
	return r
}

func (r *repo) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.Root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) main(name, body string) {
	r.write("cmd/"+name+"/main.go", "package main\n\nfunc main() { "+body+" }\n")
}

func (r *repo) read(name string) string {
	r.Helper()
	data, err := os.ReadFile(filepath.Join(r.Root, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(data)
}

func (r *repo) stat(name string) os.FileInfo {
	r.Helper()
	info, err := os.Lstat(filepath.Join(r.Root, name))
	if err != nil {
		r.Fatal(err)
	}
	return info
}

// run compiles and returns what happened, as sorted words "name:state".
func (r *repo) run(binaries ...plan.Binary) (string, error) {
	r.events = nil
	err := Run(r.Context(), run.OS{}, binaries, r.Options)
	var list []string
	for _, e := range r.events {
		list = append(list, filepath.Base(e.Binary.Path)+":"+string(e.State))
	}
	slices.Sort(list)
	return strings.Join(list, " "), err
}

func (r *repo) must(want string, binaries ...plan.Binary) {
	r.Helper()
	if got, err := r.run(binaries...); err != nil || got != want {
		r.Fatalf("%s, %v; want %s", got, err, want)
	}
}

func binary(name string, p platform.Platform) plan.Binary {
	return plan.Binary{Command: name, Package: "example.com/m/cmd/" + name, Module: ".", Platform: p, Path: "bin/" + name + "-" + p.OS + "-" + p.Suffix()}
}

func TestBinariesGetTheirNamesAndNothingElseIsTouched(t *testing.T) {
	r := newRepo(t, "a", "b")
	r.write("bin/a", "mine")
	arm := binary("a", arm64)
	arm.Also = []string{"bin/other"}
	list := []plan.Binary{binary("a", amd64), arm, binary("b", amd64)}
	r.must("a-linux-amd64:built a-linux-arm64:built b-linux-amd64:built", list...)

	if r.read("bin/a") != "mine" {
		t.Error("bin/a was touched")
	}
	if !os.SameFile(r.stat("bin/a-linux-arm64"), r.stat("bin/other")) {
		t.Error("the other name is another file")
	}
	if r.read("bin/a-linux-amd64") == r.read("bin/b-linux-amd64") || !strings.HasPrefix(r.read("bin/a-linux-arm64"), "\x7fELF") {
		t.Error("wrong content")
	}
	if r.read("dist/keep/.gitignore") != "*\n" {
		t.Error("git sees the kept directory")
	}
	entries, _ := os.ReadDir(filepath.Join(r.Root, "bin"))
	if len(entries) != 5 {
		t.Errorf("bin holds %v", entries)
	}
}

func TestModeIs0755WhateverTheUmask(t *testing.T) {
	r := newRepo(t, "a")
	r.must("a-linux-amd64:built", binary("a", amd64))
	if mode := r.stat("bin/a-linux-amd64").Mode(); mode != 0o755 {
		t.Error(mode)
	}
	if err := os.Chmod(filepath.Join(r.Root, "bin/a-linux-amd64"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.must("a-linux-amd64:unchanged", binary("a", amd64))
	if mode := r.stat("bin/a-linux-amd64").Mode(); mode != 0o755 {
		t.Error(mode)
	}
}

func TestUnchangedBinariesAreNotTouched(t *testing.T) {
	r := newRepo(t, "a", "b")
	list := []plan.Binary{binary("a", amd64), binary("b", amd64)}
	r.must("a-linux-amd64:built b-linux-amd64:built", list...)
	a, b := r.stat("bin/a-linux-amd64"), r.stat("bin/b-linux-amd64")

	r.must("a-linux-amd64:unchanged b-linux-amd64:unchanged", list...)
	again := r.stat("bin/a-linux-amd64")
	if !os.SameFile(a, again) || !a.ModTime().Equal(again.ModTime()) {
		t.Error("an unchanged binary was replaced or touched")
	}

	r.main("a", `println("new")`)
	r.must("a-linux-amd64:built b-linux-amd64:unchanged", list...)
	if os.SameFile(a, r.stat("bin/a-linux-amd64")) || !strings.Contains(r.read("bin/a-linux-amd64"), "new") {
		t.Error("the changed binary is not in place")
	}
	if again := r.stat("bin/b-linux-amd64"); !os.SameFile(b, again) || !b.ModTime().Equal(again.ModTime()) {
		t.Error("its neighbour was touched")
	}
}

// TestWhatGoTouchesIsKnownToBeTheSame: the go command sets the times of what is up
// to date, and no more may be said of a file that somebody else had in hands.
func TestWhatGoTouchesIsKnownToBeTheSame(t *testing.T) {
	r := newRepo(t, "a")
	a := binary("a", amd64)
	name := "bin/a-linux-amd64"
	now, ok := files.InodeOf(r.stat("go.mod"))
	if !ok {
		t.Skip("inodes are not known on " + runtime.GOOS)
	}
	look := func(state string) Event {
		t.Helper()
		r.must("a-linux-amd64:"+state, a)
		e := r.events[0]
		if now, _ = files.InodeOf(r.stat(name)); e.Inode != now {
			t.Errorf("%s: %v, and it is %v", state, e.Inode, now)
		}
		return e
	}
	built := look("built")
	if built.Made != built.Inode {
		t.Errorf("just built, and made as %v", built.Made)
	}
	for range 2 {
		if e := look("unchanged"); e.Made != built.Made || e.Inode == built.Inode {
			t.Errorf("%+v, want what was made as %v and touched since", e, built.Made)
		}
	}
	// Written to, with size and time as they were: only the time of the change
	// shows it.
	for probe := now; probe.Changed <= now.Changed; { // the file system's clock has steps
		r.write("probe", "x")
		probe, _ = files.InodeOf(r.stat("probe"))
	}
	file := filepath.Join(r.Root, name)
	before := r.stat(name)
	if err := errors.Join(os.WriteFile(file, []byte(r.read(name)), 0o755), os.Chtimes(file, before.ModTime(), before.ModTime())); err != nil {
		t.Fatal(err)
	}
	foreign := look("unchanged")
	if foreign.Made != foreign.Inode {
		t.Errorf("written to by somebody else, and said to be as made: %+v", foreign)
	}
	if e := look("unchanged"); e.Made != foreign.Inode {
		t.Errorf("%+v, want it as first seen since, %v", e, foreign.Inode)
	}
	r.main("a", `println("new")`)
	if e := look("built"); e.Made != e.Inode {
		t.Errorf("built anew, and made as %v", e.Made)
	}
}

func TestStaleAndForeignFilesAreReplaced(t *testing.T) {
	r := newRepo(t, "a")
	a := binary("a", amd64)
	r.must("a-linux-amd64:built", a)
	want := r.read("bin/a-linux-amd64")
	file := filepath.Join(r.Root, "bin/a-linux-amd64")

	for _, c := range []struct {
		name, state string
		spoil       func() error
	}{
		{"removed", "unchanged", func() error { return os.Remove(file) }},
		{"another file", "unchanged", func() error { return errors.Join(os.Remove(file), os.WriteFile(file, []byte("x"), 0o755)) }},
		{"a link elsewhere", "unchanged", func() error { return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file)) }},
		{"changed in place", "built", func() error { // the kept file is the same one
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("spoilt"), int64(len(want)-10))
			return errors.Join(err, f.Close())
		}},
		{"truncated in place", "built", func() error { return os.Truncate(file, 64<<10) }},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		r.must("a-linux-amd64:"+c.state, a)
		if r.read("bin/a-linux-amd64") != want || !r.stat("bin/a-linux-amd64").Mode().IsRegular() {
			t.Errorf("%s: not as built", c.name)
		}
	}
}

func TestFailuresAreReportedOnceAndTheRestIsBuilt(t *testing.T) {
	r := newRepo(t, "a", "b", "c")
	var list []plan.Binary
	for _, p := range []platform.Platform{amd64, arm64} {
		list = append(list, binary("a", p), binary("b", p), binary("c", p))
	}
	if _, err := r.run(list...); err != nil {
		t.Fatal(err)
	}
	old := r.stat("bin/b-linux-arm64")
	r.main("a", `println("a2")`)
	r.main("b", "undefinedName()")
	got, err := r.run(list...)
	if want := "a-linux-amd64:built a-linux-arm64:built c-linux-amd64:unchanged c-linux-arm64:unchanged"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := "compile example.com/m/cmd/b for linux/amd64, linux/arm64: cmd/b/main.go:3:15: undefined: undefinedName"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if !os.SameFile(old, r.stat("bin/b-linux-arm64")) {
		t.Error("a file was put in place for a failure")
	}

	// a package that cannot be loaded keeps go from building any other
	r.main("a", "undefinedToo()")
	r.write("cmd/b/main.go", "package main\n\nimport \"example.com/m/gone\"\n\nfunc main() { gone.Do() }\n")
	r.main("c", `println("c2")`)
	got, err = r.run(list...)
	if want := "c-linux-amd64:built c-linux-arm64:built"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, want := range []string{
		"compile example.com/m/cmd/a for linux/amd64, linux/arm64: cmd/a/main.go:3:15: undefined: undefinedToo",
		"compile b for linux/amd64, linux/arm64:", "example.com/m/gone",
	} {
		if err == nil || strings.Count(err.Error(), want) < 1 {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
	if n := strings.Count(err.Error(), "compile "); n != 2 {
		t.Errorf("%d failures: %v", n, err)
	}
}

func TestCheckedBeforeInPlace(t *testing.T) {
	r := newRepo(t, "a", "b")
	r.write("bin/a-linux-amd64", "old")
	bad := errors.New("wrong machine")
	r.Check = func(path string, p platform.Platform) error {
		if p != amd64 {
			t.Errorf("checked as %s", p)
		}
		if filepath.Base(path) == "a" {
			return bad
		}
		return nil
	}
	got, err := r.run(binary("a", amd64), binary("b", amd64))
	if !errors.Is(err, bad) || err.Error() != "check bin/a-linux-amd64: wrong machine" || got != "b-linux-amd64:built" {
		t.Errorf("%s, %v", got, err)
	}
	if r.read("bin/a-linux-amd64") != "old" {
		t.Error("a file that failed its check is in place")
	}
	if got, err = r.run(binary("a", amd64)); !errors.Is(err, bad) || got != "" {
		t.Errorf("an unchanged file was not checked: %s, %v", got, err)
	}
}

func TestLibrariesAreNoPrograms(t *testing.T) {
	r := newRepo(t, "a")
	r.write("cmd/lib/lib.go", "package lib\n")
	got, err := r.run(binary("lib", amd64), binary("a", amd64))
	if want := "compile lib for linux/amd64: go made no program: package example.com/m/cmd/lib is not main"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if got != "a-linux-amd64:built" {
		t.Error(got)
	}
	if _, err := r.run(binary("lib", amd64)); err == nil || !strings.Contains(err.Error(), "no main packages to build") {
		t.Errorf("alone: %v", err)
	}
}

func TestVersionReachesTheProgram(t *testing.T) {
	host, err := platform.Parse(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	r := newRepo(t)
	r.write("cmd/a/main.go", "package main\n\nvar Version, date string\n\nfunc main() { println(Version + \"|\" + date) }\n")
	r.LDFlags = "-s -w -X main.date=Mon Jan 2 15:04:05 2006"
	r.VersionPkg, r.Version = "main", `1.0 "it's`
	if _, err := r.run(binary("a", host)); err == nil || !strings.Contains(err.Error(), "both kinds of quotes") {
		t.Fatalf("%v", err)
	}
	r.Version = `v1.0 'rc' $HOME`
	a := binary("a", host)
	if _, err := r.run(a); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := (run.OS{}).Run(t.Context(), run.Cmd{Name: filepath.Join(r.Root, a.Path), Stderr: &out}); err != nil {
		t.Fatal(err)
	}
	if want := "v1.0 'rc' $HOME|Mon Jan 2 15:04:05 2006\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestCopiesWhereNoHardLinkIsPossible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(file)
	dest := filepath.Join(t.TempDir(), "sub", "dest")
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := copyTo(file, dest, info); err != nil {
		t.Fatal(err)
	}
	have, _ := os.Lstat(dest)
	if os.SameFile(info, have) || have.Mode() != 0o755 || !have.ModTime().Equal(info.ModTime()) {
		t.Errorf("%v %v, want the time %v", have.Mode(), have.ModTime(), info.ModTime())
	}
	if err := publish(file, dest); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.Lstat(dest); !os.SameFile(have, again) {
		t.Error("an equal copy was replaced")
	}
	if entries, _ := os.ReadDir(filepath.Dir(dest)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestCancelLeavesNoFileUnderAFinalName(t *testing.T) {
	r := newRepo(t, "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	half := &fake{then: func(c run.Cmd) error {
		out := filepath.Join(c.Args[slices.Index(c.Args, "-o")+1], "a")
		cancel(stop)
		return errors.Join(os.WriteFile(out, []byte("half"), 0o755), ctx.Err())
	}}
	if err := Run(ctx, half, []plan.Binary{binary("a", amd64)}, r.Options); err != stop {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(r.Root, "bin")); err == nil || len(r.events) > 0 {
		t.Error("something is in place")
	}
	r.must("a-linux-amd64:built", binary("a", amd64))
	if !strings.HasPrefix(r.read("bin/a-linux-amd64"), "\x7fELF") {
		t.Error("half a file got its final name")
	}
}

func TestNothingOfAKilledGoIsUsed(t *testing.T) {
	r := newRepo(t, "a")
	half := &fake{then: func(c run.Cmd) error {
		out := filepath.Join(c.Args[slices.Index(c.Args, "-o")+1], "a")
		return errors.Join(os.WriteFile(out, []byte("\x7fELF"), 0o755), &run.ExitError{Name: "go", Code: -1})
	}}
	err := Run(t.Context(), half, []plan.Binary{binary("a", amd64)}, r.Options)
	if err == nil || len(r.events) > 0 {
		t.Errorf("%v, %v", err, r.events)
	}
}
