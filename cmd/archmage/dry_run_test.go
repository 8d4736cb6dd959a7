package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/txtar"
)

// world is everything that a run could change: a repository, the user's
// directories, CI's files, a registry, and a docker that writes down its calls.
type world struct {
	t    *testing.T
	dir  string // of all files
	host string

	mu     sync.Mutex
	writes []string // requests that are no reads
}

const dryRepository = `
-- go.mod --
module example.com/dry

go 1.26
-- cmd/app/main.go --
package main

func main() {}
-- cmd/app/Dockerfile --
FROM scratch
ARG TARGETARCH
COPY bin/app-linux-${TARGETARCH} /app
ENTRYPOINT ["/app"]
-- dockerfiles/data.Dockerfile --
FROM scratch
COPY data /
-- dockerfiles/run.Dockerfile --
FROM scratch
COPY data /
RUN ["/data"]
-- dockerfiles/wrong.Dockerfile --
FROM scratch
COPY bin/app-linux-amd64 /app
-- data --
x
`

// fakeDocker answers what it is asked, and writes down everything else.
const fakeDocker = `#!/bin/sh
case "$1 $2 $3" in
"version  ") ;;
"buildx inspect docker") echo "Driver: docker"; echo "Platforms: linux/amd64, linux/arm64" ;;
"buildx inspect ") echo "Driver: docker-container"; echo "Platforms: linux/amd64, linux/arm64" ;;
*) echo "$@" >>"$CALLS"; exit 1 ;;
esac
`

// fakeBuildah says its version, and writes down everything else.
const fakeBuildah = `#!/bin/sh
case "$1" in
--version) echo "buildah version 1.40.0 (image-spec 1.1.1, runtime-spec 1.2.1)" ;;
*) echo "$@" >>"$CALLS"; exit 1 ;;
esac
`

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir()}
	handler := registry.New(registry.Logger(log.New(discard.Writer(), "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.mu.Lock()
			w.writes = append(w.writes, r.Method+" "+r.URL.Path)
			w.mu.Unlock()
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.host = strings.TrimPrefix(server.URL, "http://")
	for _, kv := range goEnv(t, "GOCACHE", "GOMODCACHE") { // before there is another HOME
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	for name, dir := range map[string]string{"HOME": "home", "XDG_CACHE_HOME": "home/.cache", "TMPDIR": "tmp", "GITHUB_OUTPUT": "ci/output", "GITHUB_STEP_SUMMARY": "ci/summary", "CALLS": "ci/calls"} {
		t.Setenv(name, w.at(dir))
	}
	for _, name := range []string{"REGISTRY", "VERSION", "PUSH", "IMAGE_TAGS", "GOFLAGS", "BUILDX_BUILDER", "GITHUB_ACTIONS"} {
		t.Setenv(name, "")
	}
	for _, dir := range []string{"home", "tmp", "ci", "bin"} {
		w.check(os.MkdirAll(w.at(dir), 0o755))
	}
	w.check(os.WriteFile(w.at("bin/docker"), []byte(fakeDocker), 0o755))
	w.check(os.WriteFile(w.at("bin/buildah"), []byte(fakeBuildah), 0o755))
	w.check(linkTools(w.at("bin")))
	t.Setenv("PATH", w.at("bin"))
	w.check(txtar.Write(txtar.Parse([]byte(dryRepository)), w.at("repo")))
	w.git("init", "-q")
	w.git("add", "-A")
	w.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all")
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = w.at("repo")
	w.check(cmd.Run())
}

// run is the program, in this process.
func (w *world) run(args string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	words := strings.Fields(strings.ReplaceAll(args, "HOST", w.host))
	code = archmage(append([]string{"-C", w.at("repo")}, words...), &out, &err)
	return code, out.String(), err.String()
}

// state is all of it: each file's name, mode, time and content, and what the
// registry was sent.
func (w *world) state() string {
	w.t.Helper()
	var b strings.Builder
	w.check(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == w.at("home/.config") { // the go command counts its calls there
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if d.Type().IsRegular() {
			data, err = os.ReadFile(path)
		}
		stamp := info.ModTime().String()
		if path == w.at("tmp") || path == w.at("home") { // what comes there is gone again
			stamp = ""
		}
		fmt.Fprintf(&b, "%s %v %s %x\n", strings.TrimPrefix(path, w.dir), info.Mode(), stamp, sha256.Sum256(data))
		return err
	}))
	w.mu.Lock()
	defer w.mu.Unlock()
	return b.String() + strings.Join(w.writes, "\n")
}

// A dry run of any verb tells what the verb would do, and changes nothing.
func TestDryRunChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	w := newWorld(t)
	const all = "--version v1.0.0 --platforms linux/amd64,linux/arm64 "
	const some = all + "--what app,data "
	steps := []struct {
		first string   // done for real before
		dry   string   // verb
		code  int      // its exit code
		tells []string // lines of stdout
	}{
		{dry: "compile " + all, tells: []string{
			`write    bin/\.gitignore`, `run      cd .*/repo && GOOS=linux GOARCH=arm64 .*go build .* example.com/dry/cmd/app`, `write    bin/app-linux-amd64`,
		}},
		{dry: "image --load=true " + some, tells: []string{
			`write    dist/\.gitignore`, `append   dist/\.archmage`, `build    app linux/arm64 from scratch`, `layer    app linux/arm64 .*COPY bin/app-linux-arm64 /app`,
			`push     dist/app:v1\.0\.0-arm64 \(digest known after the build: there is none yet\)`, `write    dist/app/index\.json`, `write    dist/legs/app-linux-amd64-.*\.json`, `run      docker load --quiet`,
		}},
		{dry: "image --engine buildx --what run " + all, tells: []string{`run      docker buildx inspect --bootstrap`, `run      cd .*docker buildx build .*--platform linux/amd64 .*`, `push     dist/run:v1\.0\.0-amd64 .*`}},
		{dry: "image --engine buildx --buildx-builder docker --what run " + all, tells: []string{`run      cd .*docker buildx build .* --builder docker .*`, `run      cd .*docker image save .*`, `run      docker image rm .*`}},
		{dry: "image --engine buildah --what run --version v1.0.0 --platforms linux/" + runtime.GOARCH, tells: []string{`run      cd .*buildah build .*`, `run      cd .*buildah push .*`, `run      buildah rmi .*`}},
		{dry: "image --push --registry HOST/org " + some, tells: []string{`push     .*/org/data:v1\.0\.0-arm64 \(digest known after the build: there is none yet\)`}},
		{dry: "binaries " + all, tells: []string{`write    dist/release/app-windows-amd64\.exe`, `write    dist/release/checksums\.txt`}},
		{dry: "init --write --github", tells: []string{`write    Makefile`, `write    tools/archmage\.mod`, `run      .*go get -tool .*`, `write    \.github/workflows/release\.yml`}},
		{dry: "init"},
		{dry: "clean"},
		{dry: "plan -v " + all},
		{dry: "plan --github " + all, tells: []string{`append   .*/ci/output`}},
		{dry: "verify", code: 4},
		{dry: "verify --fix --what wrong", code: 4, tells: []string{`\+COPY bin/app-linux-\$\{?TARGETARCH\}? .*`}},
		{dry: "manifest " + some, code: 3},

		{first: "image --load=false " + some, dry: "manifest " + some, tells: []string{`put      dist/app:v1\.0\.0@sha256:.*`, `append   .*/ci/summary`}},
		{dry: "compile " + all, tells: []string{`write    bin/app-linux-amd64 \(there is one: go knows whether it is up to date\)`}},
		{dry: "image --load=false " + some, tells: []string{`push     dist/app:v1\.0\.0-amd64 \(digest known after the build: replaces sha256:.*, unless it is the same\)`}},
		{first: "manifest " + some, dry: "promote --tags latest --source-version v1.0.0 " + some, tells: []string{`put      dist/data:latest@sha256:.*`}},
		{dry: "manifest " + some},
		{dry: "audit"},
		{dry: "inspect dist/app:v1.0.0"},
		{dry: "clean", tells: []string{`remove   dist/app`, `remove   dist/legs`, `remove   dist/\.archmage`, `remove   dist`, `remove   bin/app-linux-amd64`, `remove   bin`, `remove   .*/archmage/compile/.*`}},
		{dry: "clean --cache", tells: []string{`remove   .*/compile \(.* files, .*\)`}},

		{first: "image --push --registry HOST/org " + some, dry: "manifest --registry HOST/org " + some, tells: []string{`put      .*/org/app:v1\.0\.0@sha256:.*`}},
		{dry: "image --push --registry HOST/org " + some, tells: []string{`push     .*/org/data:v1\.0\.0-arm64 \(digest known after the build: refused unless it is sha256:.*, which is there\)`}},
		{dry: "manifest --from HOST/org --registry HOST/copy " + some, tells: []string{`put      .*/copy/app:v1\.0\.0@sha256:.*`}},
		{first: "manifest --registry HOST/org " + some, dry: "promote --tags latest --registry HOST/org " + some, tells: []string{`put      .*/org/app:latest@sha256:.*`}},
		{dry: "promote --from HOST/org --registry HOST/copy " + some, tells: []string{`put      .*/copy/app@sha256:.*`, `put      .*/copy/data:v1\.0\.0@sha256:.*`}},
	}
	for _, s := range steps {
		if s.first != "" {
			if code, _, stderr := w.run(s.first); code != 0 {
				t.Fatalf("%s exits %d: %s", s.first, code, stderr)
			}
		}
		before := w.state()
		code, stdout, stderr := w.run("-n " + s.dry)
		if code != s.code {
			t.Errorf("-n %s exits %d, want %d: %s", s.dry, code, s.code, stderr)
		}
		for _, line := range s.tells {
			if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(stdout) {
				t.Errorf("-n %s does not tell %s:\n%s", s.dry, line, stdout)
			}
		}
		if after := w.state(); after != before {
			t.Errorf("-n %s changes\n%s", s.dry, differ(before, after))
		}
		if _, again, _ := w.run("-n " + s.dry); blurred(again) != blurred(stdout) {
			t.Errorf("-n %s tells another time\n%s\nand first\n%s", s.dry, again, stdout)
		}
	}
}

// blurred is text without the names of temporary directories.
func blurred(text string) string {
	return regexp.MustCompile(`(archmage-|archmage-init-|buildx-|buildah-)[0-9]+`).ReplaceAllString(text, "$1")
}

// differ are the lines of either that the other has not.
func differ(before, after string) string {
	var b strings.Builder
	for _, side := range []struct{ mark, text, other string }{{"-", before, after}, {"+", after, before}} {
		for line := range strings.Lines(side.text) {
			if !strings.Contains(side.other, line) {
				b.WriteString(side.mark + line)
			}
		}
	}
	return b.String()
}
