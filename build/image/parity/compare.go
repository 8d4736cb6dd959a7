package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Compare returns every difference of two images, sorted: manifest, config key
// by key with its history, layers, and the merged tree after each layer, so that
// layers align with history on both sides. Rules is what may differ.
func Compare(want, got *Image, r Rules) ([]string, error) {
	a, err := r.facts(want)
	if err != nil {
		return nil, err
	}
	b, err := r.facts(got)
	if err != nil {
		return nil, err
	}
	diffs := diff(a, b)
	more, err := r.compareTrees(want, got)
	return append(diffs, more...), err
}

// facts are all properties of manifest and config, by name.
func (r Rules) facts(i *Image) (map[string]string, error) {
	var config map[string]any
	d := json.NewDecoder(bytes.NewReader(i.Config))
	d.UseNumber() // health check times are too large for a float
	if err := d.Decode(&config); err != nil {
		return nil, fmt.Errorf("decode config: %w", err)
	}
	r.config(config)
	out := map[string]string{
		"manifest mediaType": i.MediaType, "manifest config mediaType": i.ConfigType,
		"manifest layers": fmt.Sprint(len(i.Layers)),
	}
	for n, l := range i.Layers {
		out[fmt.Sprintf("manifest layer %d mediaType", n+1)] = l.MediaType
	}
	flatten(out, "config", config)
	return out, nil
}

func flatten(out map[string]string, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			out[name] = "{}"
		}
		for key, value := range v {
			flatten(out, name+"."+key, value)
		}
	case []any:
		if len(v) == 0 {
			out[name] = "[]"
		}
		for i, value := range v {
			flatten(out, fmt.Sprintf("%s[%d]", name, i), value)
		}
	default:
		out[name] = fmt.Sprintf("%#v", v)
	}
}

// compareTrees applies both images' layers in step and stops at the first layer
// whose result differs.
func (r Rules) compareTrees(want, got *Image) ([]string, error) {
	a, b := NewTree(), NewTree()
	inStep := len(want.Layers) == len(got.Layers)
	for n := range max(len(want.Layers), len(got.Layers)) {
		if n < len(want.Layers) {
			if err := a.Apply(want.Layers[n].Tar); err != nil {
				return nil, fmt.Errorf("apply layer %d of the first image: %w", n+1, err)
			}
		}
		if n < len(got.Layers) {
			if err := b.Apply(got.Layers[n].Tar); err != nil {
				return nil, fmt.Errorf("apply layer %d of the second image: %w", n+1, err)
			}
		}
		if !inStep {
			continue
		}
		if diffs := diff(r.treeFacts(a), r.treeFacts(b)); len(diffs) > 0 {
			return append([]string{fmt.Sprintf("after layer %d of %d:", n+1, len(want.Layers))}, diffs...), nil
		}
	}
	return diff(r.treeFacts(a), r.treeFacts(b)), nil
}

// treeFacts are all properties of all files, by name.
func (r Rules) treeFacts(t Tree) map[string]string {
	links, out := t.links(), make(map[string]string, 8*len(t))
	for at, n := range t {
		name := fmt.Sprintf("tree %q ", at)
		out[name+"type"] = n.Type
		out[name+"mode"] = fmt.Sprintf("%04o", n.Mode)
		out[name+"owner"] = fmt.Sprintf("%d:%d", n.UID, n.GID)
		if t := r.modTime(n); t != 0 {
			out[name+"mtime"] = fmt.Sprint(t)
		}
		switch n.Type {
		case "file":
			out[name+"size"] = fmt.Sprint(n.Size)
			out[name+"content"] = n.Sum
		case "sym":
			out[name+"target"] = n.Link
		case "chr", "blk":
			out[name+"device"] = fmt.Sprintf("%d:%d", n.Major, n.Minor)
		}
		if all := links[at]; all != "" {
			out[name+"hard links"] = all
		}
		for key, value := range n.Xattrs {
			out[name+"xattr "+key] = fmt.Sprintf("%x", value)
		}
	}
	return out
}

// diff lists, sorted by name, what is not equal.
func diff(want, got map[string]string) []string {
	names := maps.Clone(want)
	maps.Copy(names, got)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inA := want[name]
		b, inB := got[name]
		switch {
		case inA && !inB:
			out = append(out, fmt.Sprintf("%s: %s, missing in the second", name, a))
		case !inA && inB:
			out = append(out, fmt.Sprintf("%s: missing in the first, %s", name, b))
		case a != b:
			out = append(out, fmt.Sprintf("%s: %s, second %s", name, a, b))
		}
	}
	return out
}
