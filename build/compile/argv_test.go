package compile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// fake records go commands and makes the files they would make.
type fake struct {
	mu    sync.Mutex
	calls []run.Cmd
	then  func(run.Cmd) error // instead
}

func (f *fake) Find(name string) (string, error) { return name, nil }

func (f *fake) Run(_ context.Context, c run.Cmd) error {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.then != nil {
		return f.then(c)
	}
	i := slices.Index(c.Args, "-o")
	for _, pkg := range c.Args[i+2:] {
		name := fileName(plan.Binary{Package: pkg, Platform: platform.Platform{OS: strings.TrimPrefix(c.Env[0], "GOOS=")}})
		if err := os.WriteFile(filepath.Join(c.Args[i+1], name), []byte(pkg), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func TestOneGoCommandPerPlatformAndModule(t *testing.T) {
	root := t.TempDir()
	in := func(b plan.Binary, pkg, module string) plan.Binary {
		b.Package, b.Module = pkg, module
		return b
	}
	windows := platform.Platform{OS: "windows", Arch: "amd64"}
	list := []plan.Binary{
		binary("a", amd64), binary("b", amd64), binary("a", armv6),
		in(binary("x", amd64), "example.com/x", "cmd/x"),
		in(binary("c", amd64), "example.com/m/cmd/sub/a", "."), // go would call both files a
		in(binary("d", amd64), "example.com/m/cmd/d/v2", "."),
		binary("a", windows),
	}
	f := &fake{}
	keep := filepath.Join(root, "keep")
	err := Run(t.Context(), f, list, Options{
		Root: root, Keep: keep, Jobs: 1, LDFlags: "-s -w", GoFlags: "-tags=x", VersionPkg: "example.com/m/v", Version: "1.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.calls {
		out := c.Args[slices.Index(c.Args, "-o")+1]
		if filepath.Dir(filepath.Clean(out)) != keep || !strings.HasSuffix(out, string(filepath.Separator)) {
			t.Errorf("-o %s", out)
		}
		rel, _ := filepath.Rel(root, c.Dir)
		text := filepath.ToSlash(rel) + " " + strings.Join(slices.Concat(c.Default, c.Env), " ") + " " + c.Name + " " + strings.Join(c.Args, " ")
		got = append(got, strings.Replace(text, out, "DIR", 1))
	}
	const flags = " GOFLAGS=-tags=x go build -trimpath -ldflags=-s -w -X 'example.com/m/v.Version=1.0' -o DIR "
	want := []string{
		". GOGC=400 GOOS=linux GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0" + flags + "example.com/m/cmd/a example.com/m/cmd/b example.com/m/cmd/d/v2",
		". GOGC=400 GOOS=linux GOARCH=arm GOARM=6 CGO_ENABLED=0" + flags + "example.com/m/cmd/a",
		"cmd/x GOGC=400 GOOS=linux GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0" + flags + "example.com/x",
		". GOGC=400 GOOS=linux GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0" + flags + "example.com/m/cmd/sub/a",
		". GOGC=400 GOOS=windows GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0" + flags + "example.com/m/cmd/a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, b := range list {
		if data, err := os.ReadFile(filepath.Join(root, b.Path)); string(data) != b.Package {
			t.Errorf("%s is %q, %v; want %s", b.Path, data, err, b.Package)
		}
	}
}

func TestCGOIsExplicitAndNeedsACompilerPerPlatform(t *testing.T) {
	host := platform.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	foreign := platform.Platform{OS: "linux", Arch: "s390x"}
	armv7 := platform.Platform{OS: "linux", Arch: "arm", Variant: "v7"}
	root := t.TempDir()
	o := Options{Root: root, Keep: filepath.Join(root, "keep"), CGO: true}

	f := &fake{}
	err := Run(t.Context(), f, []plan.Binary{binary("a", host), binary("a", foreign), binary("b", foreign), binary("a", armv6)}, o)
	if runtime.GOARCH != "arm" {
		want := "compile for linux/s390x: CGO_ENABLED is 1 and there is no C compiler for it\ncompile for linux/arm/v6: CGO_ENABLED is 1 and there is no C compiler for it"
		if err == nil || err.Error() != want || len(f.calls) > 0 {
			t.Errorf("%v after %d calls", err, len(f.calls))
		}
	}
	var h interface{ Hint() string }
	if !errors.As(err, &h) || !strings.HasPrefix(h.Hint(), "set CC_linux_s390x") {
		t.Errorf("no hint in %v", err)
	}

	o.CC = map[platform.Platform]string{foreign: "s390x-cc", armv7: "arm-cc"}
	if err := Run(t.Context(), f, []plan.Binary{binary("a", host), binary("a", foreign), binary("a", armv6)}, o); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range f.calls {
		i := slices.Index(c.Env, "CGO_ENABLED=1")
		if i < 0 {
			t.Fatalf("%q", c.Env)
		}
		got[c.Env[1]] = strings.Join(c.Env[i+1:], " ")
	}
	if got["GOARCH="+host.Arch] != "" || got["GOARCH=s390x"] != "CC=s390x-cc" || got["GOARCH=arm"] != "CC=arm-cc" {
		t.Errorf("%q", got)
	}
}

func TestEqualFailuresAreOneWithTheirPlatforms(t *testing.T) {
	root := t.TempDir()
	f := &fake{then: func(c run.Cmd) error {
		text := "go: downloading example.com/y v1.0.0\n# example.com/m/x\nx/x.go:1:1: bad\nx/x.go:2:1: worse\n"
		if slices.Contains(c.Env, "GOARCH=arm64") {
			text += "# example.com/m/y\ny/y_arm64.go:1:1: only here\n"
		}
		io.WriteString(c.Stderr, text)
		return &run.ExitError{Name: "go", Code: 1}
	}}
	err := Run(t.Context(), f, []plan.Binary{binary("a", amd64), binary("a", arm64), binary("a", armv6)}, Options{Root: root, Keep: filepath.Join(root, "k"), Jobs: 3})
	want := "compile example.com/m/x for linux/amd64, linux/arm64, linux/arm/v6:\nx/x.go:1:1: bad\nx/x.go:2:1: worse\n" +
		"compile example.com/m/y for linux/arm64: y/y_arm64.go:1:1: only here"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if len(f.calls) != 3 {
		t.Errorf("%d calls", len(f.calls))
	}
}

func TestGoThatCannotRunIsReportedOnce(t *testing.T) {
	root := t.TempDir()
	f := &fake{then: func(run.Cmd) error { return errors.New("go: not found on PATH") }}
	err := Run(t.Context(), f, []plan.Binary{binary("a", amd64), binary("b", amd64), binary("a", arm64)}, Options{Root: root, Keep: filepath.Join(root, "k")})
	if err == nil || strings.Count(err.Error(), "not found on PATH") != 1 || len(f.calls) != 2 {
		t.Errorf("%v after %d calls", err, len(f.calls))
	}
}

func TestHintsForWhatGoSays(t *testing.T) {
	for text, want := range map[string]string{
		"error obtaining VCS status: exit status 128\n\tUse -buildvcs=false to disable VCS stamping.": "safe.directory",
		"go: inconsistent vendoring in /x:\n\tTo sync the vendor directory, run:\n\t\tgo mod vendor":  "`go mod vendor`",
		"go: inconsistent vendoring in /x:\n\tTo sync the vendor directory, run:\n\t\tgo work vendor": "`go work vendor`",
	} {
		root := t.TempDir()
		f := &fake{then: func(c run.Cmd) error {
			io.WriteString(c.Stderr, text+"\n")
			return &run.ExitError{Name: "go", Code: 1}
		}}
		err := Run(t.Context(), f, []plan.Binary{binary("a", amd64), binary("b", amd64)}, Options{Root: root, Keep: filepath.Join(root, "k")})
		var said *plan.GoError
		if !errors.As(err, &said) || said.Text != text || !strings.Contains(said.Hint(), want) || said.Doing != "compile a, b for linux/amd64" {
			t.Errorf("%v, hint %q", err, said.Hint())
		}
	}
}

func TestNamesAreClaimedOnceAndInsideTheRoot(t *testing.T) {
	a, b, out := binary("a", amd64), binary("b", amd64), binary("c", amd64)
	b.Also = []string{a.Path}
	out.Path = "../c"
	f := &fake{}
	err := Run(t.Context(), f, []plan.Binary{a, b, out}, Options{Root: t.TempDir(), Keep: filepath.Join(t.TempDir(), "k")})
	want := "write bin/a-linux-amd64: both a for linux/amd64 and b for linux/amd64\nwrite ../c: not inside the repository"
	if err == nil || err.Error() != want || len(f.calls) > 0 {
		t.Errorf("%v", err)
	}
}
