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
	size     int64
	modified time.Time
}

// Open implements [rootfs.Content].
func (f *fetched) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// fetch reads a URL into a file that ends with the blobs.
func (b *Blobs) fetch(ctx context.Context, h *dockerfile.HTTP) (_ *fetched, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: sameScheme}
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // its text has the URL, credentials included
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	f, err := os.CreateTemp(b.dir, "remote-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(resp.Body, maxRemote+1))
	if err != nil {
		return nil, err
	}
	if n > maxRemote {
		return nil, fmt.Errorf("longer than %d bytes", int64(maxRemote))
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); h.Checksum != "" && got != h.Checksum {
		return nil, fmt.Errorf("digest mismatch %s: %s", got, h.Checksum)
	}
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified")) // none: the layer decides
	return &fetched{f.Name(), n, modified}, nil
}

// sameScheme refuses redirects that leave https, and endless ones.
func sameScheme(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if from := via[0].URL.Scheme; req.URL.Scheme != from {
		return fmt.Errorf("redirect from %s to %s", from, req.URL.Scheme)
	}
	return nil
}

// redacted is a URL without credentials and query, which may hold a token.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}
