package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// Tests of what is left when archmage's process ends in the middle. Processes
// are this test's own binary under other names, see TestMain.

var (
	kills    = flag.Int("faults.kills", faulty.Kills, "runs to kill")
	killSeed = flag.Uint64("faults.seed", 1, "seed of the first run to kill; the next ones follow")
)

// verbsMain runs one verb after the other in one process, as long as they end
// well. Words that are -- stand between them.
func verbsMain() {
	for _, verb := range splitVerbs(os.Args[1:]) {
		if code := archmage(verb, os.Stdout, os.Stderr); code != 0 {
			os.Exit(code)
		}
	}
}

func splitVerbs(args []string) (verbs [][]string) {
	for {
		i := slices.Index(args, "--")
		if i < 0 {
			return append(verbs, args)
		}
		verbs, args = append(verbs, args[:i]), args[i+1:]
	}
}

// timedMain is main, and says on its last line how long it took from the
// interrupt to the end.
func timedMain() {
	interrupt, at := make(chan os.Signal, 1), make(chan time.Time, 1)
	signal.Notify(interrupt, os.Interrupt)
	go func() {
		<-interrupt
		at <- time.Now()
	}()
	code := archmage(os.Args[1:], os.Stdout, os.Stderr)
	if code == 130 {
		fmt.Fprintln(os.Stderr, time.Since(<-at))
	}
	os.Exit(code)
}

// checkout is a repository on disk, and where it publishes.
type checkout struct {
	t        *testing.T
	root     string
	registry string
}

func newCheckout(t *testing.T, registry string, seed byte) *checkout {
	t.Helper()
	c := &checkout{t: t, root: t.TempDir(), registry: registry}
	c.release(seed)
	return c
}

func (c *checkout) release(seed byte) {
	c.t.Helper()
	if err := faulty.Checkout(c.root, seed); err != nil {
		c.t.Fatal(err)
	}
}

// command is a process with nothing of the caller's settings and login.
func (c *checkout) command(program string, verbs ...[]string) *exec.Cmd {
	c.t.Helper()
	var args []string
	for i, verb := range verbs {
		if i > 0 {
			args = append(args, "--")
		}
		args = append(args, verb...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = c.root
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.t.TempDir(), "TMPDIR=" + c.t.TempDir(), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.root),
		"REGISTRY=" + c.registry, "LOAD=false", "IMAGE_RETRY_MAX=2", "IMAGE_RETRY_DELAY=10ms", "IMAGE_JOBS=4", "NO_COLOR=1",
	}
	return cmd
}

// plain makes a command one of a binary without the race detector, where this
// one has it: processes that are killed by the dozen start in a quarter of the
// time, and what they race for is not in them.
func plain(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if !raced {
		return cmd
	}
	program, err := buildPlain()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = program // its name, Args[0], is what TestMain goes by
	return cmd
}

// buildPlain leaves the binary beside this one, which goes when the tests end.
var buildPlain = sync.OnceValues(func() (string, error) {
	own, err := exec.LookPath("archmage-verbs")
	if err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(own), "plain.test")
	out, err := exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// must runs a process, which has to end well.
func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// publish is how a release is published, verb by verb.
func publish(version string) [][]string {
	return [][]string{
		{"image", "--push", "--version=" + version},
		{"manifest", "--version=" + version, "--tags=main"},
		{"promote", "--source-version=" + version, "--tags=latest"},
	}
}

// store is a registry of a test's own.
func store(t *testing.T, program string) *url.URL {
	t.Helper()
	cmd := exec.Command(program, "--listen", "127.0.0.1:0", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("archmage-registry: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &url.URL{Scheme: "http", Host: strings.TrimSpace(line)}
}

func buildStore(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "archmage-registry")
	must(t, exec.Command("go", "build", "-o", program, "../archmage-registry"))
	return program
}

// pushed are the indexes of a release, by image, from a run that nobody
// disturbs; writes is how many requests that takes, and took how long.
type pushed struct {
	digests map[string]string
	writes  int
	took    time.Duration
}

func undisturbed(t *testing.T, up *url.URL, version string, seed byte) pushed {
	t.Helper()
	proxy, host, closeProxy := faulty.Serve(up, faulty.Plan{})
	defer closeProxy()
	prefix := fmt.Sprintf("clean%d/%s", os.Getpid(), version)
	cmd := plain(t, newCheckout(t, host+"/"+prefix, seed).command("archmage-verbs", publish(version)...))
	begin := time.Now()
	must(t, cmd)
	p := pushed{digests: map[string]string{}, writes: proxy.Writes(), took: time.Since(begin)}
	for _, img := range faulty.Images {
		d, err := faulty.Digest(t.Context(), up.String(), prefix+"/"+img, "latest")
		if err != nil || d == "" {
			t.Fatal(d, err)
		}
		p.digests[img] = d
	}
	return p
}

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

// TestTwoProcessesAtOnce is one version from two processes, and two versions
// with the tag latest.
func TestTwoProcessesAtOnce(t *testing.T) {
	program := buildStore(t)
	up := store(t, program)
	one, other := undisturbed(t, up, "v1.0.0", 2), undisturbed(t, up, "v1.1.0", 3)
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			up := store(t, program)
			second, seed, version := one, byte(2), "v1.0.0"
			if i%2 == 1 {
				second, seed, version = other, 3, "v1.1.0"
			}
			may := faulty.Shared{}
			for _, img := range faulty.Images {
				may["x/"+img+":v1.0.0"] = []string{"", one.digests[img]}
				may["x/"+img+":"+version] = []string{"", second.digests[img]}
				may["x/"+img+":latest"] = []string{"", one.digests[img], second.digests[img]}
			}
			stop := may.Watch(up.String())
			commands := []*exec.Cmd{
				newCheckout(t, up.Host+"/x", 2).command("archmage-verbs", publish("v1.0.0")...),
				newCheckout(t, up.Host+"/x", seed).command("archmage-verbs", publish(version)...),
			}
			for _, cmd := range commands {
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
			}
			for _, cmd := range commands {
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
					t.Errorf("exit code %d", code)
				}
			}
			if err := stop(); err != nil {
				t.Errorf("a reader: %v", err)
			}
			for ref, digests := range may {
				may[ref] = digests[1:]
			}
			if err := may.Check(t.Context(), up.String()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnInterruptEndsAPushAtOnce interrupts a process that waits for a registry
// which does not answer, at several places of a release.
func TestAnInterruptEndsAPushAtOnce(t *testing.T) {
	program := buildStore(t)
	for _, at := range []int{1, 5, 9} {
		t.Run(fmt.Sprint(at), func(t *testing.T) { interruptAt(t, store(t, program), at) })
	}
}

func interruptAt(t *testing.T, up *url.URL, at int) {
	held, dead := make(chan struct{}), make(chan struct{})
	_, host, closeProxy := faulty.Serve(up, faulty.Plan{OnWrite: func(w faulty.Write) {
		if w.N == at && !w.Done {
			close(held)
		}
		if w.N >= at {
			<-dead
		}
	}})
	defer closeProxy()
	prefix := fmt.Sprintf("interrupted%d/%d", os.Getpid(), at)
	c := newCheckout(t, host+"/"+prefix, 2)
	var said bytes.Buffer
	cmd := c.command("archmage-timed", publish("v1.0.0")[0])
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(dead)
	}()
	select {
	case <-held:
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	case <-dead:
	}
	<-dead
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	took, err := time.ParseDuration(lines[len(lines)-1])
	if err != nil || took > 2*time.Second || cmd.ProcessState.ExitCode() != 130 || !slices.Contains(lines, "archmage: interrupted") {
		t.Errorf("exit code %d after %s, %v\n%s", cmd.ProcessState.ExitCode(), took, err, said.String())
	}
	none := faulty.Shared{}
	for _, img := range faulty.Images {
		none[prefix+"/"+img+":v1.0.0"] = []string{""}
	}
	if err := none.Check(t.Context(), up.String()); err != nil {
		t.Error(err)
	}
	if left := filesOf(t, tmpOf(cmd)); len(left) != 0 {
		t.Errorf("left in TMPDIR: %q", slices.Sorted(maps.Keys(left)))
	}
	noLeftovers(t, c.root)
}

func tmpOf(cmd *exec.Cmd) (dir string) {
	for _, kv := range cmd.Env {
		if value, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			dir = value
		}
	}
	return dir
}
