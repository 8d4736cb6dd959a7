package build

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/publish"
)

// engineLabel says on a leg that archmage built it, and with what.
const engineLabel = "io.github.archmage-go.engine"

// legLabel says on a leg that archmage has audited it, as the image and for the
// platform that it names: a manifest of such legs needs no look into their
// layers. What others build on such an image inherits the label, but is another
// image. IMAGE_LABELS=none leaves it out, and so does IMAGE_VERIFY=false, under
// which findings stop nothing: such legs are looked into.
const legLabel = "io.github.archmage-go.leg"

// legName is the value of legLabel.
func legName(image string, pl platform.Platform) string { return image + " " + pl.String() }

// The automatic labels and annotations, as the OCI image specification names
// them (annotations.md, pre-defined annotation keys).
const (
	prefix       = "org.opencontainers.image."
	labelCreated = prefix + "created"
	labelBase    = prefix + "base.name"
	labelDigest  = prefix + "base.digest"
)

// created is the time of what is built: the user's, else the commit's, so that
// two builds of one commit are equal.
func created(s *config.Settings) time.Time {
	switch {
	case s.Epoch != nil:
		return *s.Epoch
	case !s.Commit.Time.IsZero():
		return s.Commit.Time
	}
	return time.Unix(0, 0).UTC()
}

// automatic is the org.opencontainers.image.* set of one image. What is not
// known is left out.
func automatic(s *config.Settings, img plan.Image, base *dockerfile.Base) map[string]string {
	set := map[string]string{
		labelCreated:        created(s).Format(time.RFC3339),
		prefix + "revision": s.Commit.Revision,
		prefix + "source":   s.Commit.Source,
		prefix + "version":  plan.BaseVersion(s.Leg, s.Version),
		prefix + "title":    img.Name,
	}
	if base != nil {
		set[labelBase], set[labelDigest] = base.Ref, base.Digest
	}
	maps.DeleteFunc(set, func(_, v string) bool { return v == "" })
	return set
}

// labels are what is added to an image's config. The user's own come last; a
// label that the Dockerfile itself sets is not replaced by an automatic one,
// but one that merely comes with the base is.
func labels(s *config.Settings, img plan.Image, r *dockerfile.Recipe, baseConfig []byte) map[string]string {
	set := map[string]string{}
	if s.Labels.Auto {
		set = automatic(s, img, r.FinalBase)
		set[engineLabel] = plan.Native
		if s.Verify {
			set[legLabel] = legName(img.Name, r.Platform)
		}
		inherited := configLabels(baseConfig)
		for key, value := range configLabels(r.Config) {
			if base, fromBase := inherited[key]; !fromBase || base != value {
				delete(set, key)
			}
		}
	}
	maps.Copy(set, s.Labels.Values)
	maps.Copy(set, img.Labels)
	return set
}

// engineLabels are the labels that an engine has to be told, which evaluates the
// Dockerfile again: those that were added when r was evaluated.
func engineLabels(s *config.Settings, img plan.Image, r *dockerfile.Recipe, engine string) map[string]string {
	added := map[string]string{}
	if s.Labels.Auto {
		added = automatic(s, img, r.FinalBase)
		added[engineLabel] = engine
		if s.Verify {
			added[legLabel] = legName(img.Name, r.Platform)
		}
	}
	maps.Copy(added, s.Labels.Values)
	maps.Copy(added, img.Labels)
	has := configLabels(r.Config)
	for key := range added {
		if key != engineLabel && key != legLabel {
			added[key] = has[key]
		}
	}
	return added
}

// annotations are those of a leg's manifest, which carries those of its index
// along. Docker's manifests have none.
func annotations(s *config.Settings, img plan.Image, r *dockerfile.Recipe) map[string]string {
	set := map[string]string{}
	if s.MediaTypes == "docker" {
		return nil
	}
	if s.Annotations.Auto {
		set = automatic(s, img, r.FinalBase)
	}
	maps.Copy(set, s.Annotations.On(config.LevelManifest, r.Platform))
	for _, level := range []config.Level{config.LevelIndex, config.LevelDescriptor} {
		for key, value := range s.Annotations.On(level, r.Platform) {
			set[publish.Carried(string(level), key)] = value
		}
	}
	if len(set) == 0 {
		return nil
	}
	return set
}

func configLabels(config []byte) map[string]string {
	var c struct {
		Config struct{ Labels map[string]string }
	}
	_ = json.Unmarshal(config, &c) // the front end wrote or read it: it parses
	return c.Config.Labels
}
