package audit

import (
	"bytes"
	"context"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// indexes compares what two indexes say of themselves and of what they list; the
// images come later.
func (d *differ) indexes(m [2]registry.Manifest) error {
	before := d.found()
	var parsed [2]*v1.IndexManifest
	var entries [2]map[string]any
	for i := range m {
		var err error
		if parsed[i], err = v1.ParseIndexManifest(bytes.NewReader(m[i].Raw)); err != nil {
			return err
		}
		if entries[i], err = object(m[i].Raw); err != nil {
			return err
		}
	}
	lists := [2][]any{}
	for i, e := range entries {
		lists[i], _ = e["manifests"].([]any)
		delete(e, "manifests")
	}
	d.json("index", "", entries[0], entries[1])
	d.attested(parsed)
	if len(lists[0]) == len(lists[1]) {
		for k := range lists[0] {
			// Digests and sizes follow from the images, which are compared too.
			a, b := without(lists[0][k], "digest", "size"), without(lists[1][k], "digest", "size")
			if spelled(at(a, "platform")) == spelled(at(b, "platform")) { // else the order differs, or what there is
				d.json("index", place("manifests", k), a, b)
			}
		}
	}
	same := slices.EqualFunc(parsed[0].Manifests, parsed[1].Manifests, func(a, b v1.Descriptor) bool { return a.Digest == b.Digest })
	if same && d.found() == before {
		d.add("index", "", "bytes", "the same, written differently", "")
	}
	return nil
}

// attested compares which attestations there are. What is in them is not read.
func (d *differ) attested(parsed [2]*v1.IndexManifest) {
	var digests [2][]string
	for i, index := range parsed {
		for _, entry := range index.Manifests {
			if attests(entry) {
				digests[i] = append(digests[i], entry.Digest.String())
			}
		}
	}
	only := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
	}
	a, b := only(digests[0], digests[1]), only(digests[1], digests[0])
	if len(a)+len(b) > 0 {
		d.add("index", "", "attestations", strings.Join(a, " "), strings.Join(b, " "))
	}
}

// platforms compares the images of both sides that are for one platform. Of two
// for the same one, the first goes with the first.
func (d *differ) platforms(ctx context.Context, children [2][]child) error {
	left := slices.Clone(children[1])
	for _, a := range children[0] {
		d.platform = a.platform
		i := slices.IndexFunc(left, func(c child) bool { return c.platform == a.platform })
		if i < 0 {
			d.add("index", "", "only in A", a.entry.Digest.String(), "")
			continue
		}
		b := left[i]
		left = slices.Delete(left, i, i+1)
		d.out.Platforms = append(d.out.Platforms, a.platform)
		if a.entry.Digest != b.entry.Digest {
			if err := d.images(ctx, a.entry, b.entry); err != nil {
				return err
			}
		}
	}
	for _, b := range left {
		d.platform = b.platform
		d.add("index", "", "only in B", "", b.entry.Digest.String())
	}
	d.platform = ""
	if a, b := order(children[0]), order(children[1]); a != b && len(left) == 0 && len(children[0]) == len(children[1]) {
		d.add("index", "", "order", a, b)
	}
	return nil
}

func order(list []child) string {
	var names []string
	for _, c := range list {
		names = append(names, c.platform)
	}
	return strings.Join(names, " ")
}

// at is what a JSON object has under a key.
func at(value any, key string) any {
	m, _ := value.(map[string]any)
	return m[key]
}

// without is a JSON object less some keys.
func without(value any, keys ...string) any {
	if m, ok := value.(map[string]any); ok {
		for _, key := range keys {
			delete(m, key)
		}
	}
	return value
}
