package faulty

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Shared says what shared tags may name: by repository:tag, digests, where ""
// is that the tag is absent. It reads registries by itself, with nothing of
// what it judges.
type Shared map[string][]string

// Check reads every tag and all that is below it, at a registry such as
// http://127.0.0.1:5000: index, images, configs and layers. It is an error where
// a tag names something else or something that is not whole.
func (s Shared) Check(ctx context.Context, registry string) error {
	return s.check(ctx, reader{url: registry, read: map[string]bool{}})
}

// Watch checks over and over, without reading layers through, until stop is
// called; that waits for the check under way and returns what was wrong first.
// A tag that the registry answers a server error for is left open.
func (s Shared) Watch(registry string) (stop func() error) {
	ended, found := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			err := s.check(context.Background(), reader{url: registry, skim: true, read: map[string]bool{}})
			select {
			case <-ended:
				found <- err
				return
			case <-time.After(3 * time.Millisecond): // leaves the processor to what is watched
			}
			if err != nil {
				found <- err
				return
			}
		}
	}()
	return func() error {
		close(ended)
		return <-found
	}
}

func (s Shared) check(ctx context.Context, r reader) error {
	for _, ref := range slices.Sorted(maps.Keys(s)) {
		repo, tag, _ := strings.Cut(ref, ":")
		digest, err := r.tag(ctx, repo, tag)
		if r.skim && errors.Is(err, ErrServer) {
			continue // docker-registry 2.8 answers so while a tag is written
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ref, err)
		}
		if !slices.Contains(s[ref], digest) {
			return fmt.Errorf("%s names %q, which is none of %q", ref, digest, s[ref])
		}
	}
	return nil
}

// Digest is what a tag names, "" where it is absent. What it names has to be
// whole.
func Digest(ctx context.Context, registry, repo, tag string) (string, error) {
	return reader{url: registry, read: map[string]bool{}}.tag(ctx, repo, tag)
}

// reader reads one registry.
type reader struct {
	url  string
	skim bool            // do not read layers through
	read map[string]bool // parts, by address, that were read and are whole
}

type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// ErrServer is what a registry answers that does not know.
var ErrServer = errors.New("the registry does not know")

var errAbsent = errors.New("404")

func (r reader) tag(ctx context.Context, repo, tag string) (string, error) {
	raw, err := r.get(ctx, repo+"/manifests/"+tag)
	if errors.Is(err, errAbsent) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return digestOf(raw), r.below(ctx, repo, raw)
}

// below reads all that a manifest refers to.
func (r reader) below(ctx context.Context, repo string, raw []byte) error {
	var m struct {
		Manifests, Layers []descriptor
		Config            *descriptor
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	for _, d := range m.Manifests {
		if r.read[repo+d.Digest] {
			continue
		}
		child, err := r.part(ctx, repo+"/manifests/", d)
		if err == nil {
			err = r.below(ctx, repo, child)
		}
		if err != nil {
			return err
		}
		r.read[repo+d.Digest] = true
	}
	if m.Manifests != nil {
		return nil
	}
	if m.Config == nil || len(m.Layers) == 0 {
		return fmt.Errorf("neither an index nor an image with layers: %s", raw)
	}
	for _, d := range append(m.Layers, *m.Config) {
		var err error
		switch {
		case r.read[repo+d.Digest]:
		case r.skim:
			_, err = r.ask(ctx, http.MethodHead, repo+"/blobs/"+d.Digest)
		default:
			_, err = r.part(ctx, repo+"/blobs/", d)
		}
		if err != nil {
			return err
		}
		r.read[repo+d.Digest] = true
	}
	return nil
}

func (r reader) part(ctx context.Context, path string, d descriptor) ([]byte, error) {
	raw, err := r.get(ctx, path+d.Digest)
	if err == nil && (digestOf(raw) != d.Digest || int64(len(raw)) != d.Size) {
		err = fmt.Errorf("%s%s is %s of %d bytes, not of %d", path, d.Digest, digestOf(raw), len(raw), d.Size)
	}
	return raw, err
}

func (r reader) get(ctx context.Context, path string) ([]byte, error) {
	return r.ask(ctx, http.MethodGet, path)
}

func (r reader) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+"/v2/"+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", manifests)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", path, errAbsent)
	case resp.StatusCode >= 500:
		return nil, fmt.Errorf("%s: %s: %w", path, resp.Status, ErrServer)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", path, resp.Status)
	}
	return raw, nil
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }
