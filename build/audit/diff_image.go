package audit

import (
	"context"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// half is one of two images that are compared.
type half struct {
	manifest *v1.Manifest
	raw      map[string]any
	config   map[string]any
	layers   []v1.Layer
}

func (d *differ) half(ctx context.Context, side int, entry v1.Descriptor) (h half, err error) {
	s := d.sides[side]
	img, err := s.Repo.Image(ctx, entry.Digest.String())
	if err != nil {
		return h, err
	}
	if h.manifest, err = img.Manifest(); err != nil {
		return h, err
	}
	raw, err := img.RawManifest()
	if err != nil {
		return h, err
	}
	if h.raw, err = object(raw); err != nil {
		return h, fmt.Errorf("compare %s: manifest %s: %w", s.Called, entry.Digest, err)
	}
	if raw, err = img.RawConfigFile(); err != nil {
		return h, err
	}
	if h.config, err = object(raw); err != nil {
		return h, fmt.Errorf("compare %s: config %s: %w", s.Called, h.manifest.Config.Digest, err)
	}
	h.layers, err = img.Layers()
	if err == nil && len(h.layers) != len(h.manifest.Layers) {
		err = fmt.Errorf("compare %s: %s: its config does not list its layers", s.Called, entry.Digest)
	}
	return h, err
}

// images compares two images of one platform whose manifests differ.
func (d *differ) images(ctx context.Context, a, b v1.Descriptor) error {
	before := d.found()
	var halves [2]half
	for i, entry := range []v1.Descriptor{a, b} {
		var err error
		if !entry.MediaType.IsImage() {
			d.unsure("%s: %s is no image", d.platform, entry.Digest)
			return nil
		}
		if halves[i], err = d.half(ctx, i, entry); err != nil {
			return err
		}
	}
	x, y := halves[0], halves[1]
	sameConfig := x.manifest.Config.Digest == y.manifest.Config.Digest
	for _, h := range halves {
		delete(h.raw, "layers")
		without(h.raw["config"], "digest", "size")
	}
	d.json("manifest", "", x.raw, y.raw)
	d.configs(x, y, sameConfig)
	if err := d.layers(ctx, x, y); err != nil {
		return err
	}
	if d.found() == before {
		d.add("manifest", "", "bytes", "the same, written differently", "")
	}
	return nil
}

// configs compares configs and histories. The diff IDs in them are those of the
// layers, which are compared on their own.
func (d *differ) configs(x, y half, same bool) {
	if same {
		return
	}
	before := d.found()
	ids := [2]string{spelled(x.config["rootfs"]), spelled(y.config["rootfs"])}
	history := [2]any{x.config["history"], y.config["history"]}
	for _, h := range []half{x, y} {
		without(h.config["rootfs"], "diff_ids")
		delete(h.config, "history")
	}
	d.json("config", "", x.config, y.config)
	d.json("history", "", history[0], history[1])
	if d.found() == before && ids[0] == ids[1] {
		d.add("config", "", "bytes", "the same, written differently", "")
	}
}

// layers compares layers in their order. Those that both begin and end with are
// the same; of the rest the first goes with the first.
func (d *differ) layers(ctx context.Context, x, y half) error {
	a, b := x.manifest.Layers, y.manifest.Layers
	start, end := 0, 0
	for start < min(len(a), len(b)) && a[start].Digest == b[start].Digest {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end].Digest == b[len(b)-1-end].Digest {
		end++
	}
	for i := range min(start, len(a)) {
		d.descriptors(fmt.Sprintf("layer %d", i+1), a[i], b[i])
	}
	for i := start; i < max(len(a), len(b))-end; i++ {
		in := fmt.Sprintf("layer %d", i+1)
		switch {
		case i >= len(b)-end:
			d.add(in, "", "only in A", a[i].Digest.String(), "")
		case i >= len(a)-end:
			d.add(in, "", "only in B", "", b[i].Digest.String())
		case a[i].Digest == b[i].Digest:
			d.descriptors(in, a[i], b[i])
		default:
			if err := d.layer(ctx, in, [2]stored{{a[i], x.layers[i]}, {b[i], y.layers[i]}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// descriptors compares what manifests say of one layer.
func (d *differ) descriptors(in string, a, b v1.Descriptor) {
	if a.MediaType != b.MediaType {
		d.add(in, "", "media type", string(a.MediaType), string(b.MediaType))
	}
	if !slices.Equal(a.URLs, b.URLs) {
		d.add(in, "", "urls", fmt.Sprint(a.URLs), fmt.Sprint(b.URLs))
	}
	d.json(in, "annotations", strings2any(a.Annotations), strings2any(b.Annotations))
}

func strings2any(m map[string]string) map[string]any {
	all := map[string]any{}
	for key, value := range m {
		all[key] = value
	}
	return all
}
