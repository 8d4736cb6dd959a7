package publish

import (
	"encoding/json"
	"maps"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// agree returns what stands in the way of joining members to one index.
func agree(j Join, members []*member, o Options) (refusals []error) {
	first := members[0]
	for _, m := range members {
		what := "join " + j.source().Name() + ":" + m.leg.Tag
		if o.Revision != "" && m.revision() != o.Revision {
			refusals = append(refusals, refuse(what, "its revision is %s, not %s", orNone([]string{m.revision()}), o.Revision))
		} else if m.revision() != first.revision() {
			no := refuse(what, "its revision is %s, that of %s is %s", orNone([]string{m.revision()}), first.leg.Tag, orNone([]string{first.revision()}))
			no.hint = "legs of one version come from one commit: build them again"
			refusals = append(refusals, no)
		}
		for _, part := range m.mediaTypes() {
			if isDocker(part) != isDocker(first.entry.MediaType) {
				no := refuse(what, "it holds %s, but %s is %s", part, first.leg.Tag, first.entry.MediaType)
				no.hint = "an index is all OCI or all docker: build the legs with one IMAGE_MEDIA_TYPES"
				refusals = append(refusals, no)
				break
			}
		}
	}
	return append(refusals, sameIndex(j, members)...)
}

// mediaTypes are those that have to be of one family. Layers are not among
// them: an OCI manifest over docker's layer types is common and works.
func (mb *member) mediaTypes() []types.MediaType {
	list := []types.MediaType{mb.entry.MediaType, mb.config}
	for _, d := range mb.attests {
		list = append(list, d.MediaType)
	}
	return list
}

func isDocker(t types.MediaType) bool {
	switch t {
	case types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerManifestList:
		return true
	}
	return false
}

// newIndex is the index of members: images in their order, then attestations,
// as BuildKit's exporter orders them. Equal members give equal bytes.
func newIndex(members []*member) (registry.Manifest, error) {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{}}
	if isDocker(members[0].entry.MediaType) {
		index.MediaType = types.DockerManifestList
	} else {
		index.Annotations = indexAnnotations(members) // a docker list has none
	}
	for _, m := range members {
		entry := m.entry
		if index.MediaType == types.OCIImageIndex {
			entry.Annotations = m.carries(ofEntry)
		}
		index.Manifests = append(index.Manifests, entry)
	}
	for _, m := range members {
		index.Manifests = append(index.Manifests, m.attests...)
	}
	raw, err := json.Marshal(index) // sorts annotations
	if err != nil {
		return registry.Manifest{}, err
	}
	return registry.NewManifest(raw, index.MediaType)
}

// common are the annotations that all members have with one value.
func common(members []*member) map[string]string {
	all := maps.Clone(members[0].annotations)
	for _, m := range members[1:] {
		maps.DeleteFunc(all, func(k, v string) bool { w, ok := m.annotations[k]; return !ok || w != v })
	}
	return all
}
