//go:build engines

package parity

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/rootfs"
	"github.com/archmage-go/archmage/build/run"
)

var (
	random = flag.Int("engines.random", 500, "random cases to build")
	seed   = flag.Uint64("engines.seed", 1, "seed of the first random case; the next ones follow")
)

// tally counts what the tests of this package did; [TestMain] prints it.
var tally struct{ cases, refused, random, randomRefused, differences, skipped atomic.Int64 }

var checker Checker

func TestMain(m *testing.M) {
	flag.Parse()
	if err := setUp(); err != nil {
		// Not a skip: a machine without engines must not look like one with.
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(checker.Dir)
	against := "the native builder"
	if native == nil {
		against = "itself"
	}
	summary := fmt.Sprintf("parity: %d cases, %d random, %d differences, skipped %d (BuildKit against %s; it refused %d and %d)\n",
		tally.cases.Load(), tally.random.Load(), tally.differences.Load(), tally.skipped.Load(), against,
		tally.refused.Load(), tally.randomRefused.Load())
	fmt.Print(summary)
	// go test shows nothing of a package that passes.
	if at := os.Getenv("ENGINES_SUMMARY"); at != "" {
		if err := os.WriteFile(at, []byte(summary), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "parity:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// setUp connects to what scripts/engines started.
func setUp() error {
	registry := os.Getenv("ENGINES_REGISTRY")
	if registry == "" || os.Getenv("BUILDX_BUILDER") == "" {
		return fmt.Errorf(`no engines: scripts/engines up, then eval "$(scripts/engines env)"`)
	}
	dir, err := os.MkdirTemp("", "parity-")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	blobs, err := image.NewBlobs(dir, rootfs.Indexes{})
	if err != nil {
		return err
	}
	native = newNative(blobs)
	go http.Serve(l, http.FileServer(http.Dir(dir)))
	checker = Checker{
		BuildKit: BuildKit{Runner: run.OS{}}, Other: native, Registry: registry,
		URL: "http://" + l.Addr().String() + "/", Dir: dir,
	}
	return checker.PushBases(context.Background(), "testdata/bases")
}

// alone is held for writing by a case that BuildKit has to itself.
var alone sync.RWMutex

// settle checks a case, and where that says anything asks again with nothing else
// under way: BuildKit merges equal operations of the builds that run at once, so
// a COPY that it refuses can succeed while another build has what it copies
// (seen with COPY bin/*.nope). What BuildKit does alone is what counts.
func settle(t *testing.T, k Case) (Outcome, error) {
	alone.RLock()
	out, err := checker.Check(t.Context(), k)
	alone.RUnlock()
	if err == nil && len(out.Diffs) == 0 {
		return out, nil
	}
	alone.Lock()
	defer alone.Unlock()
	return checker.Check(t.Context(), k)
}

// check runs one case, as a parallel subtest does.
func check(t *testing.T, k Case) Outcome {
	t.Helper()
	out, err := settle(t, k)
	if err != nil {
		tally.differences.Add(1)
		t.Fatal(err)
	}
	if len(out.Diffs) > 0 {
		tally.differences.Add(1)
		t.Errorf("%s differs:\n%s", k.Name, out)
	}
	return out
}
