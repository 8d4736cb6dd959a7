package image

import (
	"encoding/json"
	"errors"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// exporterComment marks history lines that the exporter adds for layers that
// have none, as BuildKit spells it.
const exporterComment = "buildkit.exporter.image.v0"

// exportConfig completes a recipe's config as BuildKit's exporter does: history
// lines and layers are made to agree, rootfs lists the layers, and what has no
// time gets the image's. The other fields stay as the front end wrote them, the
// ones that no Go type here knows included.
func exportConfig(r Request, layers []layer) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Recipe.Config, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("null")
	}
	var history []ocispec.History
	if raw, ok := fields["history"]; ok {
		if err := json.Unmarshal(raw, &history); err != nil {
			return nil, err
		}
	}
	rootfs := rootFS{Type: "layers", DiffIDs: []string{}}
	for _, l := range layers {
		id, err := l.DiffID()
		if err != nil {
			return nil, err
		}
		rootfs.DiffIDs = append(rootfs.DiffIDs, id.String())
	}
	err := set(fields, "rootfs", rootfs)
	if err == nil {
		err = set(fields, "history", dated(align(history, layers), r.Created))
	}
	if err == nil {
		err = set(fields, "created", r.Created.UTC())
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

func set(fields map[string]json.RawMessage, key string, value any) (err error) {
	fields[key], err = json.Marshal(value)
	return err
}

// align makes as many history lines stand for a layer as there are layers.
// A base with lines for layers that it does not have makes the last lines
// empty; one with too few gets lines at the end, described by the last layers.
func align(history []ocispec.History, layers []layer) []ocispec.History {
	aligned := make([]ocispec.History, 0, len(history))
	lines := 0
	for _, h := range history {
		if lines == len(layers) {
			h.EmptyLayer = true
		}
		if !h.EmptyLayer {
			lines++
		}
		aligned = append(aligned, h)
	}
	for _, l := range layers[lines:] {
		aligned = append(aligned, ocispec.History{CreatedBy: l.description, Comment: exporterComment})
	}
	return aligned
}

// dated gives every line that has no time the image's.
func dated(history []ocispec.History, created time.Time) []ocispec.History {
	created = created.UTC()
	for i := range history {
		if history[i].Created == nil {
			history[i].Created = &created
		}
	}
	return history
}
