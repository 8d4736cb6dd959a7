package main

import (
	"bufio"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	home     string // what a run remembers there, the next one finds
	registry string
}

func newCheckout(t *testing.T, registry string, seed byte) *checkout {
	t.Helper()
	c := &checkout{t: t, root: t.TempDir(), home: t.TempDir(), registry: registry}
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
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.t.TempDir(), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.root),
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
