package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// object decodes a JSON object. Numbers stay as they are written.
func object(raw []byte) (map[string]any, error) {
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&m)
	return m, err
}

// json writes down where two JSON values differ.
func (d *differ) json(in, at string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.objects(in, at, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.lists(in, at, x, y)
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		d.add(in, at, "value", spelled(a), spelled(b))
	}
}

func (d *differ) objects(in, at string, a, b map[string]any) {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		x, inA := a[key]
		y, inB := b[key]
		switch {
		case !inB:
			d.add(in, place(at, key), "only in A", spelled(x), "")
		case !inA:
			d.add(in, place(at, key), "only in B", "", spelled(y))
		default:
			d.json(in, place(at, key), x, y)
		}
	}
}

func (d *differ) lists(in, at string, a, b []any) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b):
			d.add(in, place(at, i), "only in A", spelled(a[i]), "")
		case i >= len(a):
			d.add(in, place(at, i), "only in B", "", spelled(b[i]))
		default:
			d.json(in, place(at, i), a[i], b[i])
		}
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// place is that of a key (a string) or element (an int) of what is at a
// place: config.Labels["org.example"], history[2].
func place(at string, key any) string {
	name, isKey := key.(string)
	switch {
	case !isKey:
		return fmt.Sprintf("%s[%d]", at, key)
	case !plainKey.MatchString(name):
		return fmt.Sprintf("%s[%q]", at, name)
	case at == "":
		return name
	}
	return at + "." + name
}

func spelled(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // it was decoded from JSON
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
