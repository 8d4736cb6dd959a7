package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// maxRemote bounds a remote file, in bytes: more is no artefact that one adds
// to an image, but a mistake or an attack.
const maxRemote = 16 << 30

// remote is the tree of an ADD from a URL: one file, owned by root, with the
// permissions that the front end says. Its time is the server's Last-Modified,
// as in BuildKit; the checksum is compared before anybody reads it.
func (x *executor) remote(ctx context.Context, h *dockerfile.HTTP) (snapshot, error) {
	got, err := x.Blobs.fetch(ctx, h)
	if err != nil {
		return snapshot{}, fmt.Errorf("fetch %s: %w", redacted(h.URL), err)
	}
	e := rootfs.Tree{}.Edit()
	n := &rootfs.Node{Mode: fs.FileMode(h.Mode).Perm(), Size: got.size, Data: got, ModTime: got.modified}
	if err := e.Put("/"+remoteName(h), n); err != nil {
		return snapshot{}, err
	}
	return treeSnapshot(e.Tree()), nil
}

// remoteName is what BuildKit calls the file: as asked for, else after the URL.
func remoteName(h *dockerfile.HTTP) string {
	if h.Filename != "" {
		return h.Filename
	}
	if u, err := url.Parse(h.URL); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path)
	}
	return "download"
}

// fetched is a remote file on disk.
type fetched struct {
	path     string
	digest   string
	size     int64
	modified time.Time
}

// Open implements [rootfs.Content].
func (f *fetched) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// fetch reads a URL into a file that ends with the blobs.
func (b *Blobs) fetch(ctx context.Context, h *dockerfile.HTTP) (_ *fetched, err error) {
	resp, err := get(ctx, h.URL)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	f, err := os.CreateTemp(b.dir, "remote-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(resp.Body, b.maxRemote+1))
	if err != nil {
		return nil, err
	}
	if n > b.maxRemote {
		return nil, fmt.Errorf("longer than %d bytes", b.maxRemote)
	}
	got := "sha256:" + hex.EncodeToString(sum.Sum(nil))
	if h.Checksum != "" && got != h.Checksum {
		return nil, fmt.Errorf("digest mismatch %s: %s", got, h.Checksum)
	}
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified")) // none: the layer decides
	return &fetched{f.Name(), got, n, modified}, nil
}

// get asks for a URL. The body of its answer ends with ctx.
func get(ctx context.Context, text string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, text, nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	client := http.Client{CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		resp.Body.Close()
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return resp, nil
}

// withoutURL is an error whose text does not have the URL, which may hold
// credentials.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// checkRedirect refuses endless redirects, and those to another scheme, but for
// the one from http to https, which loses nothing.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	from, to := via[len(via)-1].URL.Scheme, req.URL.Scheme
	if from != to && (from != "http" || to != "https") {
		return fmt.Errorf("redirect from %s to %s", from, to)
	}
	return nil
}

// redacted is a URL without credentials, and without query and fragment, which
// may hold a token.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	return u.String()
}
