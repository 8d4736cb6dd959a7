package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// Side is one of two references that are compared.
type Side struct {
	Repo   registry.Repository
	Ref    string // a tag or a digest
	Called string // how the comparison names it
}

// Difference is one thing in which two references differ.
type Difference struct {
	Platform string `json:"platform,omitempty"` // "" where it is about an index
	In       string `json:"in"`                 // index, manifest, config, history, layer 2
	Path     string `json:"path,omitempty"`     // a JSON path, or a file of the layer
	What     string `json:"what"`               // value, only in A, mode, content, …
	A        string `json:"a"`
	B        string `json:"b"`
}

// Comparison is how two references differ. Where their digests are equal they do
// not, and nothing more was read.
type Comparison struct {
	A, B        Compared
	Platforms   []string     // that both have, in the order of A
	Differences []Difference // index, then platforms; of each: manifest, config, history, layers
	Omitted     int          // further ones, of which there are too many
	NotChecked  []string     // what could not be compared
}

// Compared is one of the two.
type Compared struct {
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

// Equal reports whether both are the same bytes.
func (c Comparison) Equal() bool { return c.A.Digest == c.B.Digest }

// mostDifferences bounds what is listed: two layers of strangers may differ in
// every file.
const mostDifferences = 1000

// Diff compares what two references name, platform by platform: annotations,
// configs, histories, and of layers every file. Layers are read only where their
// digests differ. The error is registry.ErrAbsent where one is not there; any
// other one leaves the answer open.
func Diff(ctx context.Context, a, b Side, o Options) (Comparison, error) {
	d := &differ{sides: [2]Side{a, b}, options: o}
	d.out.A.Ref, d.out.B.Ref = a.Called, b.Called
	var manifests [2]registry.Manifest
	var errs []error
	for i, s := range d.sides {
		var err error
		manifests[i], err = s.Repo.Manifest(ctx, s.Ref)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return d.out, err
	}
	d.out.A.Digest, d.out.B.Digest = manifests[0].Digest.String(), manifests[1].Digest.String()
	if d.out.Equal() {
		return d.out, nil
	}
	return d.out, d.references(ctx, manifests)
}

// differ compares two sides and writes down what it finds.
type differ struct {
	sides    [2]Side
	options  Options
	platform string // that is compared just now
	out      Comparison
}

func (d *differ) add(in, path, what, a, b string) {
	if len(d.out.Differences) == mostDifferences {
		d.out.Omitted++
		return
	}
	d.out.Differences = append(d.out.Differences, Difference{d.platform, in, path, what, short(a), short(b)})
}

func (d *differ) unsure(form string, args ...any) {
	if len(d.out.NotChecked) < mostDifferences {
		d.out.NotChecked = append(d.out.NotChecked, fmt.Sprintf(form, args...))
	}
}

// found is how many differences there are so far.
func (d *differ) found() int { return len(d.out.Differences) + d.out.Omitted }

// longest is how many bytes of a value are shown.
const longest = 400

func short(text string) string {
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}

// child is an image of one side.
type child struct {
	platform string
	entry    v1.Descriptor
}

// references compares two manifests or indexes, and what they list.
func (d *differ) references(ctx context.Context, m [2]registry.Manifest) error {
	var children [2][]child
	for i := range m {
		var err error
		if children[i], err = d.children(ctx, d.sides[i], m[i]); err != nil {
			return err
		}
	}
	switch a, b := m[0].MediaType.IsIndex(), m[1].MediaType.IsIndex(); {
	case a && b:
		if err := d.indexes(m); err != nil {
			return err
		}
	case a != b:
		d.add("index", "", "kind", kind(a), kind(b))
	}
	return d.platforms(ctx, children)
}

func kind(index bool) string {
	if index {
		return "an index"
	}
	return "one image"
}

// children lists the images that a manifest names.
func (d *differ) children(ctx context.Context, s Side, m registry.Manifest) ([]child, error) {
	switch {
	case m.MediaType.IsImage():
		p, err := configPlatform(ctx, s.Repo, m.Digest.String())
		return []child{{p, m.Descriptor()}}, err
	case !m.MediaType.IsIndex():
		return nil, fmt.Errorf("compare %s: %s is neither an image nor an index", s.Called, m.MediaType)
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, fmt.Errorf("compare %s: no index: %w", s.Called, err)
	}
	var list []child
	for _, entry := range index.Manifests {
		if attests(entry) {
			continue
		}
		c := child{entry: entry}
		if entry.Platform != nil {
			c.platform = named(entry.Platform.OS, entry.Platform.Architecture, entry.Platform.Variant).String()
		} else if entry.MediaType.IsImage() {
			if c.platform, err = configPlatform(ctx, s.Repo, entry.Digest.String()); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

func configPlatform(ctx context.Context, repo registry.Repository, digest string) (string, error) {
	img, err := repo.Image(ctx, digest)
	if err != nil {
		return "", err
	}
	raw, err := img.RawConfigFile()
	if err != nil {
		return "", err
	}
	var c config
	if json.Unmarshal(raw, &c) != nil || c.OS == "" {
		return "unknown", nil // an artifact, which says nothing
	}
	return named(c.OS, c.Architecture, c.Variant).String(), nil
}
