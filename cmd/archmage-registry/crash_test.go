package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestAKilledRegistryHasWhatItAnsweredFor kills the process in the middle of
// pushes, after another number of writes each time, and starts it again.
func TestAKilledRegistryHasWhatItAnsweredFor(t *testing.T) {
	dir := t.TempDir()
	answered := &pushed{manifests: map[string]string{}, referrers: map[string]string{}}
	for round, writes := range []int{1, 2, 5, 11, 30, 31, 57, 90} {
		p := startProcess(t, dir)
		var pushers sync.WaitGroup
		for n := range 4 {
			pushers.Go(func() { answered.push(p.host, fmt.Sprintf("r%d-p%d", round, n)) })
		}
		for range writes {
			if _, ok := <-p.lines; !ok {
				t.Fatal("its log ended")
			}
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		pushers.Wait()
		if err := p.wait(); err == nil {
			t.Fatal("it ended by itself")
		}
	}
	p := startProcess(t, dir)
	answered.check(t, p.host)
	if err := errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), p.wait()); err != nil {
		t.Errorf("%v\n%s", err, p.logged())
	}
	checkNames(t, filepath.Join(dir, "blobs"))
}

// pushed is what a registry answered 201 for.
type pushed struct {
	mu        sync.Mutex
	manifests map[string]string // path: content
	referrers map[string]string // digest of one: of its subject
}

// push pushes images, an index of each and a referrer until the registry is gone.
func (s *pushed) push(host, name string) {
	for i := 0; ; i++ {
		tag := fmt.Sprintf("%s-%d", name, i)
		layer := strings.Repeat(tag, 20000)
		if !ask201(host, "/v2/app/blobs/uploads/", layer) {
			return
		}
		const mt = "application/vnd.oci.image.manifest.v1+json"
		img := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":%s,"layers":[%s]}`, mt, descriptor(mt, layer), descriptor(mt, layer))
		all := fmt.Sprintf(`{"schemaVersion":2,"manifests":[%s]}`, descriptor(mt, img))
		ref := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"artifactType":"a/b","config":%s,"layers":[],"subject":%s}`,
			mt, descriptor(mt, layer), descriptor(mt, img))
		for _, m := range []struct{ ref, mediaType, text string }{
			{tag, mt, img},
			{"all-" + tag, "application/vnd.oci.image.index.v1+json", all},
			{digestOf(ref), mt, ref},
		} {
			path := "/v2/app/manifests/" + m.ref
			if !put201(host, path, m.mediaType, m.text) {
				return
			}
			s.mu.Lock()
			s.manifests[path] = m.text
			s.mu.Unlock()
		}
		s.mu.Lock()
		s.referrers[digestOf(ref)] = digestOf(img)
		s.manifests["/v2/app/blobs/"+digestOf(layer)] = layer
		s.mu.Unlock()
	}
}

func digestOf(content string) string {
	h, _, _ := v1.SHA256(strings.NewReader(content)) // reading memory does not fail
	return h.String()
}

func descriptor(mediaType, content string) string {
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, mediaType, digestOf(content), len(content))
}

// ask201 pushes a blob in two pieces.
func ask201(host, path, content string) bool {
	half := len(content) / 2
	at, ok := send("POST", "http://"+host+path, "", "")
	if ok {
		at, ok = send("PATCH", "http://"+host+at, "", content[:half])
	}
	if ok {
		_, ok = send("PUT", "http://"+host+at+"?digest="+digestOf(content), "", content[half:])
	}
	return ok
}

func put201(host, path, mediaType, content string) bool {
	_, ok := send("PUT", "http://"+host+path, mediaType, content)
	return ok
}

// send returns where the answer points to, or false if there was none.
func send(method, url, mediaType, body string) (string, bool) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location"), resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusAccepted
}

func (s *pushed) check(t *testing.T, host string) {
	t.Helper()
	if len(s.manifests) < 20 || len(s.referrers) < 5 {
		t.Errorf("too little was pushed: %d manifests, %d referrers", len(s.manifests), len(s.referrers))
	}
	for path, want := range s.manifests {
		if code, body := do(t, "GET", "http://"+host+path, ""); code != 200 || body != want {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
	for digest, subject := range s.referrers {
		if _, body := do(t, "GET", "http://"+host+"/v2/app/referrers/"+subject, ""); !strings.Contains(body, digest) {
			t.Errorf("%s has no referrer %s: %s", subject, digest, body)
		}
	}
}

// checkNames reads every file: what has a name has that digest, and nothing else
// is there.
func checkNames(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if digestOf(string(content)) != "sha256:"+e.Name() {
			t.Errorf("%s holds something else", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAnInterruptedRegistryEndsWhatItBegan(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	at, ok := send("POST", "http://"+p.host+"/v2/app/blobs/uploads/", "", "")
	if !ok {
		t.Fatal("no upload")
	}
	body, piece := io.Pipe()
	code := make(chan int, 1)
	go func() {
		req, _ := http.NewRequest("PUT", "http://"+p.host+at+"?digest="+digestOf("one two"), body)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			code <- 0
			return
		}
		resp.Body.Close()
		code <- resp.StatusCode
	}()
	if _, err := io.WriteString(piece, "one "); err != nil {
		t.Error(err)
	}
	untilUploading(t, filepath.Join(dir, "blobs"), "one ")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until it lets nobody else in
		c, err := net.Dial("tcp", p.host)
		if err != nil {
			break
		}
		c.Close()
	}
	io.WriteString(piece, "two")
	piece.Close()
	if got := <-code; got != http.StatusCreated {
		t.Errorf("the upload: %d", got)
	}
	if err := p.wait(); err != nil {
		t.Errorf("%v\n%s", err, p.logged())
	}
	if log := p.logged(); !strings.HasSuffix(log, "PUT "+at+" 201\n") {
		t.Errorf("log:\n%s", log)
	}
}

// untilUploading returns once a file that is not complete has that content.
func untilUploading(t *testing.T, dir, content string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		files, _ := filepath.Glob(filepath.Join(dir, uploading+"*"))
		for _, f := range files {
			if got, _ := os.ReadFile(f); string(got) == content {
				return
			}
		}
	}
	t.Fatal("the upload never began")
}
