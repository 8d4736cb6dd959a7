package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Level is what an annotation is written to, as buildx names it.
type Level string

// The levels that a published index has.
const (
	LevelManifest   Level = "manifest"            // of each leg, or of those for one platform
	LevelDescriptor Level = "manifest-descriptor" // the entry of a leg in its index
	LevelIndex      Level = "index"
)

// Annotations are those asked for.
type Annotations struct {
	Auto bool         // the org.opencontainers.image.* set of manifests as well
	List []Annotation // as written
}

// Annotation is one of them.
type Annotation struct {
	Level      Level
	Platform   platform.Platform // of a leg; zero is all
	Key, Value string
}

// ReservedPrefix begins what archmage itself writes down in labels and
// annotations.
const ReservedPrefix = "io.github.archmage-go."

// On returns the annotations of a level for one platform. As in BuildKit, what
// names the platform counts more than what names none, and then what comes last.
func (a Annotations) On(level Level, p platform.Platform) map[string]string {
	set := map[string]string{}
	for _, only := range []platform.Platform{{}, p} {
		for _, one := range a.List {
			if one.Level == level && one.Platform == only {
				set[one.Key] = one.Value
			}
		}
	}
	return set
}

// annotationTarget is a level with an optional platform (buildx,
// util/buildflags, ParseAnnotations).
var annotationTarget = regexp.MustCompile(`^([a-z-]+)(?:\[([A-Za-z0-9_/-]+)\])?$`)

// parseAnnotations reads [LEVEL[PLATFORM],…:]KEY=value entries. A first word of
// none leaves the automatic ones out.
func parseAnnotations(s *Settings, v string) error {
	words, err := splitQuoted(v)
	if err != nil {
		return err
	}
	a := Annotations{Auto: true}
	if len(words) > 0 && (words[0] == "none" || words[0] == "auto") {
		a.Auto, words = words[0] == "auto", words[1:]
	}
	for _, word := range levelsJoined(words) {
		list, err := parseAnnotation(word)
		if err != nil {
			return err
		}
		a.List = append(a.List, list...)
	}
	s.Annotations = a
	return nil
}

// levelsJoined undoes what a list does to the comma in index,manifest:KEY=value.
func levelsJoined(words []string) (joined []string) {
	levels := ""
	for _, word := range words {
		if !strings.Contains(word, "=") && annotationTarget.MatchString(word) {
			levels += word + ","
			continue
		}
		joined, levels = append(joined, levels+word), ""
	}
	if levels != "" {
		joined = append(joined, strings.TrimSuffix(levels, ","))
	}
	return joined
}

const annotationForms = "write KEY=value, index:KEY=value, manifest[linux/arm64]:KEY=value or index,manifest:KEY=value; quoted where it holds a blank or a comma"

func parseAnnotation(word string) ([]Annotation, error) {
	key, value, found := strings.Cut(word, "=")
	targets, rest, leveled := strings.Cut(key, ":")
	if leveled {
		key = rest
	} else {
		targets = string(LevelManifest)
	}
	if !found || key == "" || strings.ContainsAny(key, " \t\r\n") {
		return nil, bad(annotationForms, "%q is not [LEVEL:]KEY=value", word)
	}
	if strings.HasPrefix(key, ReservedPrefix) {
		return nil, bad("choose another key", "%s… is what archmage itself writes", ReservedPrefix)
	}
	var list []Annotation
	for _, target := range strings.Split(targets, ",") {
		a, err := parseTarget(target)
		if err != nil {
			return nil, err
		}
		a.Key, a.Value = key, value
		if a.Level == LevelDescriptor && strings.HasPrefix(key, "vnd.docker.reference.") {
			return nil, bad("choose another key", "%s would make an attestation of the image", key)
		}
		list = append(list, a)
	}
	return list, nil
}

func parseTarget(text string) (a Annotation, err error) {
	groups := annotationTarget.FindStringSubmatch(text)
	if groups == nil {
		return a, bad(annotationForms, "%q is no level of annotations", text)
	}
	a.Level = Level(groups[1])
	switch {
	case a.Level == "index-descriptor":
		return a, bad("leave it out; manifest-descriptor is for the entries of an index", "nothing that is published holds an index-descriptor")
	case a.Level == "config":
		return a, bad("IMAGE_LABELS writes them", "what a config has are labels")
	case !slices.Contains([]Level{LevelManifest, LevelDescriptor, LevelIndex}, a.Level):
		return a, bad("the levels are manifest, index and manifest-descriptor", "unknown level of annotations %q", groups[1])
	case groups[2] != "" && a.Level == LevelIndex:
		return a, bad("write index: alone", "an index is of all platforms, not of %s", groups[2])
	case groups[2] != "":
		if a.Platform, err = platform.Parse(groups[2]); err != nil {
			return a, platformProblem(err)
		}
	}
	return a, nil
}
