package parity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Checker runs cases. The zero value of what is
// not exported is ready; a Checker may be used concurrently.
type Checker struct {
	BuildKit BuildKit
	Other    Builder // nil: BuildKit itself, a second time
	Registry string  // host:port, plain HTTP, writable
	URL      string  // web server that serves Dir, with a slash
	Dir      string  // exists; everything is written below

	mu    sync.Mutex
	bases map[string]bool
}

// Outcome is what came of one case.
type Outcome struct {
	Refused string   // what BuildKit said where it refused, as it should
	Diffs   []string // none: equal on every platform
}

// String is the differences, cut where nobody reads on.
func (o Outcome) String() string {
	const most = 40
	if len(o.Diffs) <= most {
		return strings.Join(o.Diffs, "\n")
	}
	return strings.Join(o.Diffs[:most], "\n") + fmt.Sprintf("\n… and %d more", len(o.Diffs)-most)
}

// commonPath is where the bases that all cases share are pushed.
const commonPath = "parity/"

// PushBases fills the registry with the bases of dir, one *.base file each.
func (c *Checker) PushBases(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.base"))
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(f), ".base")
		if err := c.pushBase(ctx, commonPath+name, string(data)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) pushBase(ctx context.Context, name, spec string) error {
	b, err := parseBase(spec)
	if err != nil {
		return fmt.Errorf("base %s: %w", name, err)
	}
	a, err := b.build()
	if err != nil {
		return fmt.Errorf("base %s: %w", name, err)
	}
	c.mu.Lock()
	for _, id := range a.diffIDs {
		if c.bases == nil {
			c.bases = map[string]bool{}
		}
		c.bases[id] = true
	}
	c.mu.Unlock()
	return push(ctx, c.Registry, name, a)
}

func (c *Checker) rules() Rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Rules{Bases: maps.Clone(c.bases)}
}

// Check builds the case on both sides and compares. An error means that it could
// not be asked: the engine is down, or the case is not as it says. Whether both
// sides refuse is asked platform by platform.
func (c *Checker) Check(ctx context.Context, k Case) (Outcome, error) {
	dir, err := os.MkdirTemp(c.Dir, k.Name+"-")
	if err != nil {
		return Outcome{}, err
	}
	defer os.RemoveAll(dir)
	req, err := c.prepare(ctx, k, dir)
	if err != nil {
		return Outcome{}, fmt.Errorf("case %s: %w", k.Name, err)
	}
	rules := c.rules()
	images, err := c.BuildKit.Build(ctx, req, k.Platforms, filepath.Join(dir, "a"))
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return c.checkRefusal(ctx, k, attempt{req, dir, rules}, refusal)
	case err != nil:
		return Outcome{}, fmt.Errorf("case %s: %w", k.Name, err)
	case k.Refuses != "" && k.Refuses != AnyOutcome:
		return Outcome{}, fmt.Errorf("case %s: BuildKit builds it, and was to refuse with %q", k.Name, k.Refuses)
	}
	var out Outcome
	for i, p := range k.Platforms {
		req.Platform = p
		diffs := c.compare(ctx, images[i], attempt{req, filepath.Join(dir, fmt.Sprint("b", i)), rules})
		for _, d := range diffs {
			out.Diffs = append(out.Diffs, p+": "+d)
		}
	}
	return out, nil
}

// prepare writes the context and pushes the bases that the case brings along.
func (c *Checker) prepare(ctx context.Context, k Case, dir string) (Request, error) {
	name := filepath.Base(dir)
	own := commonPath + strings.ToLower(name) + "/"
	for _, b := range k.bases() {
		if err := c.pushBase(ctx, own+b[0], b[1]); err != nil {
			return Request{}, err
		}
	}
	// buildx tells BuildKit the last element of a context's path, and contexts of
	// one name would see what an earlier one sent. The random end of the case's
	// directory is enough, and short: a socket's path has to be.
	unique := name[strings.LastIndex(name, "-")+1:]
	context := filepath.Join(dir, unique)
	if err := os.Mkdir(context, 0o755); err != nil {
		return Request{}, err
	}
	err := k.write(ctx, context, places{
		common: c.Registry + "/" + commonPath, own: c.Registry + "/" + own, url: c.URL + name + "/" + unique + "/",
	})
	return Request{Context: context, Dockerfile: k.Dockerfile, Target: k.Target, Args: k.Args, Labels: k.Labels}, err
}

// attempt is one build of the other side.
type attempt struct {
	Request
	dir   string // for what it writes
	rules Rules
}

func (c *Checker) other(ctx context.Context, a attempt) (v1.Image, error) {
	if c.Other != nil {
		return c.Other(ctx, a.Request)
	}
	images, err := c.BuildKit.Build(ctx, a.Request, []string{a.Platform}, a.dir)
	if err != nil {
		return nil, err
	}
	return images[0], nil
}

// compare lists a failure of the other side as a difference.
func (c *Checker) compare(ctx context.Context, want v1.Image, a attempt) []string {
	first, err := Read(want)
	if err != nil {
		return []string{"BuildKit's image is broken: " + err.Error()}
	}
	img, err := c.other(ctx, a)
	if err != nil {
		return []string{"BuildKit builds, the other side does not: " + err.Error()}
	}
	second, err := Read(img)
	if err != nil {
		return []string{"the other side's image is broken: " + err.Error()}
	}
	diffs, err := Compare(first, second, a.rules)
	if err != nil {
		return append(diffs, err.Error())
	}
	return diffs
}

// alone builds one platform with BuildKit, in a context of another name, so that
// it sees nothing of what the build of all platforms has sent.
func (c *Checker) alone(ctx context.Context, r Request, out string) ([]v1.Image, error) {
	own := r.Context + "-" + filepath.Base(out)
	if err := os.Symlink(r.Context, own); err != nil {
		return nil, err
	}
	r.Context = own
	return c.BuildKit.Build(ctx, r, []string{r.Platform}, out)
}

// checkRefusal holds that the other side refuses on every platform on which
// BuildKit does, and builds the same on the rest.
func (c *Checker) checkRefusal(ctx context.Context, k Case, a attempt, said *Refusal) (Outcome, error) {
	if k.Refuses == "" || k.Refuses != AnyOutcome && !strings.Contains(said.Said, k.Refuses) {
		return Outcome{}, fmt.Errorf("case %s: BuildKit refuses with %q, expected was %q", k.Name, said.Said, k.Refuses)
	}
	out, root := Outcome{Refused: said.Said}, a.dir
	for i, p := range k.Platforms {
		a.Platform = p
		images, err := c.alone(ctx, a.Request, filepath.Join(root, fmt.Sprint("c", i)))
		var again *Refusal
		if err != nil && !errors.As(err, &again) {
			return out, fmt.Errorf("case %s: %w", k.Name, err)
		}
		a.dir = filepath.Join(root, fmt.Sprint("b", i))
		if err == nil {
			for _, d := range c.compare(ctx, images[0], a) {
				out.Diffs = append(out.Diffs, p+": "+d)
			}
			continue
		}
		switch _, err := c.other(ctx, a); {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err == nil:
			out.Diffs = append(out.Diffs, p+": the other side builds it, BuildKit refuses: "+again.Said)
		}
	}
	return out, nil
}
