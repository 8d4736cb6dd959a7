package publish

import (
	"maps"
	"slices"
	"strings"
)

// carriedPrefix begins the annotations of a leg's manifest that are for what
// [Manifest] makes of it. They travel with the leg, so that equal legs give
// equal indexes wherever they are joined, and nothing else has to be known there.
const carriedPrefix = "io.github.archmage-go."

const (
	ofIndex = carriedPrefix + "index:"
	ofEntry = carriedPrefix + "manifest-descriptor:"
)

// Carried is the key under which a leg's manifest carries an annotation of its
// index (level "index") or of its entry there ("manifest-descriptor").
func Carried(level, key string) string { return carriedPrefix + level + ":" + key }

// carries are the annotations that a member carries for what prefix names; nil
// where there are none.
func (mb *member) carries(prefix string) map[string]string {
	var set map[string]string
	for key, value := range mb.annotations {
		if own, ok := strings.CutPrefix(key, prefix); ok && own != "" && !reference(own) {
			if set == nil {
				set = map[string]string{}
			}
			set[own] = value
		}
	}
	return set
}

// reference reports whether a key would make an attestation of an entry.
func reference(key string) bool { return key == referenceType || key == referenceDigest }

// indexAnnotations are those that all members have with one value, and over
// these those that they carry for their index.
func indexAnnotations(members []*member) map[string]string {
	all := common(members)
	maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasPrefix(key, carriedPrefix) })
	if own := members[0].carries(ofIndex); len(own) > 0 {
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, own)
	}
	return all
}

// sameIndex refuses members that want different annotations of their index.
func sameIndex(j Join, members []*member) (refusals []error) {
	first := members[0]
	want := first.carries(ofIndex)
	for _, m := range members[1:] {
		have := m.carries(ofIndex)
		keys := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(have)))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			a, inA := want[key]
			b, inB := have[key]
			if a == b && inA == inB {
				continue
			}
			no := refuse("join "+j.source().Name()+":"+m.leg.Tag, "it wants %s of its index, %s wants %s",
				wanted(key, b, inB), first.leg.Tag, wanted(key, a, inA))
			no.hint = "build the legs with one IMAGE_ANNOTATIONS"
			refusals = append(refusals, no)
			break
		}
	}
	return refusals
}

func wanted(key, value string, has bool) string {
	if !has {
		return "no annotation " + key
	}
	return "annotation " + key + "=" + value
}
