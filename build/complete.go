package build

import (
	"context"
	"path"
	"slices"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/verify"
)

// Word is what a shell may complete a word to, and what it is, for shells that
// show that.
type Word struct{ Text, About string }

// Names are what WHAT takes: images, then commands that are none. What cannot be
// found is left out. As with all that follow, p may be nil, for a repository whose
// settings are wrong.
func (p *Project) Names(ctx context.Context) []Word {
	if p == nil {
		return nil
	}
	images, _, _ := p.images()
	var words []Word
	taken := map[string]bool{}
	for _, img := range images {
		words = append(words, Word{img.Name, "image, " + img.Dockerfile})
		taken[img.Name] = true
	}
	found, _ := plan.Commands(ctx, p.runner, p.Root, p.Platforms, p.goEnv()...)
	for _, c := range found.Commands {
		if !taken[c.Name] {
			words = append(words, Word{c.Name, "command, " + c.Dir})
		}
	}
	return words
}

// ImagePlatforms are what IMAGE_PLATFORMS takes: those set, then each of Linux's
// architectures, then their variants.
func (p *Project) ImagePlatforms() []Word {
	plain := slices.DeleteFunc(platform.All(), func(pl platform.Platform) bool { return pl.OS != "linux" })
	all := slices.Concat(plain, platform.Images())
	if p == nil {
		return platformWords(nil, all)
	}
	return platformWords(p.Platforms, all)
}

// ReleasePlatforms are what RELEASE_PLATFORMS takes: those set, then all others.
func (p *Project) ReleasePlatforms() []Word {
	if p == nil {
		return platformWords(nil, platform.All())
	}
	return platformWords(p.Release, platform.All())
}

func platformWords(set, all []platform.Platform) []Word {
	var words []Word
	for i, pl := range slices.Concat(set, all) {
		word := Word{Text: pl.String()}
		if i < len(set) {
			word.About = "as set"
		}
		if !slices.ContainsFunc(words, func(w Word) bool { return w.Text == word.Text }) {
			words = append(words, word)
		}
	}
	return words
}

// References are what REF takes without asking a registry: images by name, and
// what is in IMAGE_OUT, with its tags.
func (p *Project) References(ctx context.Context) []Word {
	if p == nil {
		return nil
	}
	images, _, _ := p.images()
	var words []Word
	for _, img := range images {
		words = append(words, Word{img.Name, "image, " + p.repositories().name(img.Name) + ":" + p.Version})
	}
	for _, name := range left(p.path(p.Out)) {
		layout := path.Join(p.Out, name)
		tags, _ := registry.OpenLayout(p.path(layout), layout).Tags(ctx)
		for _, tag := range tags {
			words = append(words, Word{layout + ":" + tag, "in " + p.Out})
		}
	}
	return words
}

// Severities are what --severity takes: a rule and how it counts.
func Severities() []Word {
	var words []Word
	for _, r := range verify.Rules() {
		for _, value := range []string{"off", "warning", "error"} {
			words = append(words, Word{Text: r.Name + "=" + value})
		}
	}
	return words
}
