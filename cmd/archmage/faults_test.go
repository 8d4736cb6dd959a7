package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

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
