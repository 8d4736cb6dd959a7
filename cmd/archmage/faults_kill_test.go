package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// TestAKilledRunIsCompletedByTheNext kills whole runs at any time, and runs
// them again.
func TestAKilledRunIsCompletedByTheNext(t *testing.T) {
	program := buildStore(t)
	killAll(t, func(t *testing.T) *url.URL { return store(t, program) })
}

func killAll(t *testing.T, start func(*testing.T) *url.URL) {
	up := start(t)
	old, recent := undisturbed(t, up, "v0.9.0", 1), undisturbed(t, up, "v1.0.0", 2)
	var killed atomic.Int64
	t.Run("all", func(t *testing.T) {
		for i := range *kills {
			seed := *killSeed + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				k := &killing{T: t, dice: rand.New(rand.NewPCG(seed, 0)), up: start(t), old: old, recent: recent}
				k.prefix = fmt.Sprintf("kill%d/s%d", os.Getpid(), seed)
				k.play()
				if k.killed {
					killed.Add(1)
				}
			})
		}
	})
	if n := killed.Load(); n < int64(*kills)/2 {
		t.Errorf("only %d of %d were killed", n, *kills)
	}
}

// killing is one run that is killed.
type killing struct {
	*testing.T
	dice        *rand.Rand
	up          *url.URL
	prefix      string
	old, recent pushed
	killed      bool // it had not ended before
}

func (k *killing) play() {
	proxy, host, closeProxy := faulty.Serve(k.up, faulty.Plan{})
	defer closeProxy()
	c := newCheckout(k.T, host+"/"+k.prefix, 1)
	may := faulty.Shared{}
	was := map[string]string{}
	if k.dice.IntN(2) == 0 {
		must(k.T, plain(k.T, c.command("archmage-verbs", publish("v0.9.0")...)))
		was = k.old.digests
	}
	for _, img := range faulty.Images {
		ref := k.prefix + "/" + img
		may[ref+":v1.0.0"] = []string{"", k.recent.digests[img]}
		may[ref+":main"] = []string{was[img], k.recent.digests[img]}
		may[ref+":latest"] = may[ref+":main"]
	}
	c.release(2)
	stop := may.Watch(k.up.String())
	k.kill(plain(k.T, c.command("archmage-verbs", publish("v1.0.0")...)), proxy)
	proxy.Set(faulty.Plan{})
	if err := may.Check(k.Context(), k.up.String()); err != nil && !errors.Is(err, faulty.ErrServer) {
		k.Errorf("killed: %v", err)
	}
	must(k.T, plain(k.T, c.command("archmage-verbs", publish("v1.0.0")...)))
	if err := stop(); err != nil {
		k.Errorf("a reader: %v", err)
	}
	for ref, digests := range may {
		may[ref] = digests[1:]
	}
	if err := may.Check(k.Context(), k.up.String()); err != nil {
		k.Errorf("run again: %v", err)
	}
	for _, blob := range slices.Sorted(maps.Keys(proxy.Uploads())) {
		if n := proxy.Uploads()[blob]; n != 1 {
			k.Errorf("%s was uploaded %d times", blob, n)
		}
	}
	noLeftovers(k.T, c.root)
}

// kill ends a process at some time, or at some write: before the registry hears
// of it, or before the process hears of the answer.
func (k *killing) kill(cmd *exec.Cmd, proxy *faulty.Proxy) {
	began, dead := make(chan struct{}), make(chan struct{})
	kill := func() {
		<-began
		_ = cmd.Process.Kill()
	}
	at, done := 1+k.dice.IntN(k.recent.writes), k.dice.IntN(2) == 0
	plan := faulty.Plan{OnWrite: func(w faulty.Write) {
		if w.N == at && w.Done == done {
			kill()
			<-dead
		}
	}}
	if k.dice.IntN(3) == 0 {
		plan.OnWrite = nil
		defer time.AfterFunc(time.Duration(k.dice.Int64N(int64(k.recent.took))), kill).Stop()
	}
	proxy.Set(plan)
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	close(began)
	k.killed = cmd.Wait() != nil
	close(dead)
}

// noLeftovers looks for files in dist/ that nobody will ever need.
func noLeftovers(t *testing.T, root string) {
	t.Helper()
	for name := range filesOf(t, root) {
		if strings.Contains(name, "dist/") && strings.HasPrefix(filepath.Base(name), ".tmp") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// filesOf has every file below root.
func filesOf(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAKilledLayoutIsCompletedByTheNext kills what writes to dist/.
func TestAKilledLayoutIsCompletedByTheNext(t *testing.T) {
	verbs := [][]string{{"image", "--version=v1.0.0"}, {"manifest", "--version=v1.0.0", "--tags=latest"}}
	clean := newCheckout(t, "", 2)
	cmd := plain(t, clean.command("archmage-verbs", verbs...))
	begin := time.Now()
	must(t, cmd)
	took, want := time.Since(begin), filesOf(t, filepath.Join(clean.root, "dist"))
	for i := range *kills {
		seed := *killSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(seed, 1))
			c := newCheckout(t, "", 2)
			cmd := plain(t, c.command("archmage-verbs", verbs...))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(time.Duration(dice.Int64N(int64(took))), func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			kill.Stop()
			must(t, plain(t, c.command("archmage-verbs", verbs...)))
			got := filesOf(t, filepath.Join(c.root, "dist"))
			for _, name := range slices.Sorted(maps.Keys(got)) {
				if _, ok := want[name]; !ok {
					t.Errorf("left behind: %s", name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(want)) {
				content, ok := got[name]
				if !ok || content != want[name] && !strings.HasPrefix(name, "legs/") { // which say what was done
					t.Errorf("%s is missing or another one", name)
				}
			}
			for _, img := range faulty.Images {
				index, err := layout.ImageIndexFromPath(filepath.Join(c.root, "dist", img))
				if err == nil {
					err = validate.Index(index)
				}
				if err != nil {
					t.Errorf("%s: %v", img, err)
				}
			}
		})
	}
}
