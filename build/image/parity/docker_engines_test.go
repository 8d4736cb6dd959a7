//go:build engines

package parity

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/run"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// The fixture's images start in a real dockerd and answer: amd64's as it is,
// arm64's through qemu-user.
func TestImagesStartInDocker(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			compileFixture(t, dir, arch)
			img, err := checker.other(t.Context(), attempt{
				Request: Request{Context: dir, Dockerfile: "Dockerfile", Platform: "linux/" + arch},
				dir:     filepath.Join(t.TempDir(), "out"),
			})
			if err != nil {
				t.Fatal(err)
			}
			tag, err := name.NewTag("archmage.test/answer:" + arch)
			if err != nil {
				t.Fatal(err)
			}
			archive := filepath.Join(dir, "image.tar")
			if err := tarball.WriteToFile(archive, tag, img); err != nil {
				t.Fatal(err)
			}
			docker(t, "load", "--quiet", "--input", archive)
			t.Cleanup(func() { docker(t, "rmi", "--force", tag.String()) })
			// dockerd of the tests has no bridge: the host's network is the only one.
			id := docker(t, "run", "--detach", "--network=host", "--platform=linux/"+arch, tag.String())
			t.Cleanup(func() { docker(t, "rm", "--force", id) })
			want := arch + " uid 65532 in /srv: hello from " + arch + "\n"
			if got := ask(t, id); got != want {
				t.Errorf("answer is %q, want %q", got, want)
			}
		})
	}
}

// compileFixture copies the fixture to dir and adds its program.
func compileFixture(t *testing.T, dir, arch string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS("testdata/fixture")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "bin", "answer-linux-"+arch)
	_, err := run.Output(t.Context(), run.OS{}, run.Cmd{
		Name: "go", Args: []string{"build", "-o", out, "main.go"}, Dir: dir,
		Env: []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch, "GO111MODULE=off", "GOFLAGS="},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// docker runs the client that scripts/engines put first on PATH.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	// Cleanup runs after the test's own context has ended.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := run.Output(ctx, run.OS{}, run.Cmd{Name: "docker", Args: args})
	if err != nil {
		t.Fatalf("docker %s: %v", args[0], err)
	}
	return string(bytes.TrimSpace(out))
}

// ask connects to the address that the container prints, and reads to the end.
func ask(t *testing.T, id string) string {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		logs := docker(t, "logs", id)
		if _, addr, ok := strings.Cut(logs, "listening on "); ok {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answer, err := io.ReadAll(c)
			if err != nil {
				t.Fatal(err)
			}
			return string(answer)
		}
		if state := docker(t, "inspect", "--format={{.State.Status}}", id); state == "exited" || time.Now().After(end) {
			t.Fatalf("the container is %s and printed no address: %s", state, logs)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
