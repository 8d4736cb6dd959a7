package dockerfile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

var arm64 = platform.Platform{OS: "linux", Arch: "arm64"}

// tree writes files into a new directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// input is a lone Dockerfile for linux/arm64 on linux/amd64.
func input(t testing.TB, text string) Input {
	t.Helper()
	return Input{
		Context: tree(t, map[string]string{"Dockerfile": text}), Dockerfile: "Dockerfile",
		Platform: arm64, BuildPlatform: platform.Platform{OS: "linux", Arch: "amd64"},
	}
}

func evaluate(t testing.TB, in Input) *Recipe {
	t.Helper()
	r, err := Evaluate(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show writes operations one a line: enough to see what they do.
func show(r *Recipe) string {
	var b strings.Builder
	for i, op := range r.Ops {
		fmt.Fprintf(&b, "%d %s", i, op.Kind)
		if n := op.line(); n > 0 {
			fmt.Fprintf(&b, " L%d", n)
		}
		switch op.Kind {
		case KindBase:
			fmt.Fprintf(&b, " %s %s", op.Base.Ref, op.Base.Platform)
		case KindContext:
			fmt.Fprintf(&b, " %v-%v", op.Context.Follow, op.Context.Exclude)
		case KindMerge:
			fmt.Fprintf(&b, " %v", op.Inputs)
		case KindRun:
			fmt.Fprintf(&b, " on %d: %s", op.Run.Parent, strings.Join(op.Run.Args, " "))
			for _, m := range op.Run.Mounts {
				fmt.Fprintf(&b, " mount %d:%s %s", m.From, m.Source, m.Target)
			}
		case KindHTTP:
			fmt.Fprintf(&b, " %s %s %04o %s", op.HTTP.URL, op.HTTP.Filename, op.HTTP.Mode, op.HTTP.Checksum)
		case KindGit:
			fmt.Fprintf(&b, " %s", op.URL)
		case KindFile:
			fmt.Fprintf(&b, " on %d:", op.File.Parent)
			for k, a := range op.File.Actions {
				if k > 0 {
					b.WriteString(";")
				}
				b.WriteString(showAction(a))
			}
		}
		b.WriteString("\n")
	}
	return b.String() + fmt.Sprintf("= %d", r.Result)
}

func showAction(a Action) string {
	switch {
	case a.Copy != nil:
		c := a.Copy
		s := fmt.Sprintf(" copy %d:%s %s%s", c.From, c.Src, c.Dest, showOwner(c.Owner))
		if c.Mode != "" {
			s += " mode " + c.Mode
		}
		for _, f := range []struct {
			name string
			on   bool
		}{{"unpack", c.Unpack}, {"wild", c.Wildcard && strings.ContainsAny(c.Src+strings.Join(c.Include, ""), "*?[")}, {"exact", !c.FollowSymlink}, {"replace", c.AlwaysReplace}} {
			if f.on {
				s += " " + f.name
			}
		}
		for _, l := range [][]string{c.Include, c.Exclude, c.RequiredPaths} {
			if l != nil {
				s += fmt.Sprint(" ", l)
			}
		}
		return s
	case a.Mkdir != nil:
		return fmt.Sprintf(" mkdir %s %04o%s", a.Mkdir.Path, a.Mkdir.Mode, showOwner(a.Mkdir.Owner))
	}
	return fmt.Sprintf(" write %s %04o%s %q", a.Write.Path, a.Write.Mode, showOwner(a.Write.Owner), a.Write.Data)
}

func showOwner(o *Owner) string {
	if o == nil {
		return ""
	}
	part := func(n *Name) string {
		switch {
		case n == nil:
			return ""
		case n.Name != "":
			return fmt.Sprintf("%s@%d", n.Name, n.In)
		}
		return fmt.Sprint(n.ID)
	}
	return " owner " + part(o.User) + ":" + part(o.Group)
}

// shelf is a resolver with some images; it counts who asks.
type shelf struct {
	mu     sync.Mutex
	images map[string]ResolvedBase
	asked  map[string]int
	err    error // for what is not there
}

func (s *shelf) Resolve(ctx context.Context, ref string, p platform.Platform) (ResolvedBase, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[ref+" "+p.String()]++
	if base, ok := s.images[ref]; ok {
		return base, nil
	}
	if s.err != nil {
		return ResolvedBase{}, s.err
	}
	return Offline{}.Resolve(ctx, ref, p)
}

const someDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

// imageOf is a config with one layer and this "config" section.
func imageOf(config string) ResolvedBase {
	return ResolvedBase{Digest: someDigest, Config: []byte(`{"architecture":"arm64","os":"linux","config":` + config +
		`,"rootfs":{"type":"layers","diff_ids":["` + someDigest + `"]},"history":[{"created_by":"base"}]}`)}
}

// config is the part of a recipe's config that tests look into.
type config struct {
	Architecture, OS, Variant, Author string
	Created                           *string
	Config                            struct {
		User, WorkingDir, StopSignal         string
		Env, Entrypoint, Cmd, OnBuild, Shell []string
		Labels                               map[string]string
		ExposedPorts, Volumes                map[string]any
		ArgsEscaped                          bool
		Healthcheck                          map[string]any
	}
	RootFS  json.RawMessage `json:"rootfs"`
	History []struct {
		CreatedBy  string `json:"created_by"`
		Comment    string
		Created    *string
		EmptyLayer bool `json:"empty_layer"`
	}
}

func configOf(t testing.TB, r *Recipe) config {
	t.Helper()
	var c config
	if err := json.Unmarshal(r.Config, &c); err != nil {
		t.Fatal(err)
	}
	return c
}
