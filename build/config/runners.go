package config

import (
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Runner says which CI runner builds what needs an engine.
type Runner struct {
	For   platform.Platform // zero is every platform that no other entry names
	All   bool              // every variant of For's architecture: none was written
	Label string            // as runs-on takes it
}

// defaultRunner is the entry for everything where IMAGE_RUNNERS has none.
const defaultRunner = "ubuntu-24.04"

// runnersDefault is the default of IMAGE_RUNNERS.
const runnersDefault = "default=" + defaultRunner + " linux/arm64=ubuntu-24.04-arm"

const runnersHint = "e.g. " + runnersDefault

// Runner is the label of the runner for p: that of the entry for exactly p, else
// of the one for its architecture, else the default. The zero platform gets the
// default.
func (s *Settings) Runner(p platform.Platform) string {
	label, best := defaultRunner, -1
	for _, r := range s.Runners {
		if fit := r.fits(p); fit > best {
			label, best = r.Label, fit
		}
	}
	return label
}

// fits is how well an entry fits: negative is not at all.
func (r Runner) fits(p platform.Platform) int {
	switch {
	case r.For == platform.Platform{}:
		return 0
	case r.All && r.For.OS == p.OS && r.For.Arch == p.Arch:
		return 1
	case !r.All && r.For == p:
		return 2
	}
	return -1
}

// parseRunners reads PLATFORM=label entries, separated by commas or blanks.
func parseRunners(s *Settings, v string) error {
	words, err := splitQuoted(v)
	if err != nil {
		return err
	}
	var runners []Runner
	seen := map[Runner]bool{}
	for _, word := range words {
		r, err := parseRunner(word)
		if err != nil {
			return err
		}
		key := Runner{For: r.For, All: r.All}
		if seen[key] {
			return bad("leave one out: each platform has one runner", "%q: there is another entry for that platform", word)
		}
		seen[key] = true
		runners = append(runners, r)
	}
	s.Runners = runners
	return nil
}

func parseRunner(word string) (Runner, error) {
	key, label, found := strings.Cut(word, "=")
	switch {
	case !found || key == "" || label == "":
		return Runner{}, bad(runnersHint, "%q is not PLATFORM=runner", word)
	case strings.ContainsFunc(label, notInLabel):
		return Runner{}, bad(runnersHint, "%q is no label of a runner", label)
	case key == "default":
		return Runner{Label: label}, nil
	}
	p, err := platform.Parse(key)
	if err != nil {
		return Runner{}, platformProblem(err)
	}
	if p.OS != "linux" {
		return Runner{}, bad("images are built for linux", "%q: images for %s are not supported", key, p.OS)
	}
	// os/arch, or arch alone: every variant.
	all := strings.Count(key, "/") < 2
	if all {
		p.Variant = ""
	}
	return Runner{For: p, All: all, Label: label}, nil
}

// notInLabel keeps labels to one word that means the same in YAML, JSON and a
// log.
func notInLabel(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"'\{}[]$`+"`", r)
}
