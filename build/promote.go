package build

import (
	"context"
	"errors"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// PublishOptions are those of verbs that move shared tags.
type PublishOptions struct {
	From      string // prefix of the repositories to copy from, as REGISTRY is written; "" is REGISTRY
	Referrers bool   // copy from there what signs and attests to an image too
	IfNewest  bool   // of promote: a tag whose images are newer stays, and that is no error
}

// Promote moves IMAGE_TAGS, and VERSION where that is set and not SOURCE_VERSION,
// to what SOURCE_VERSION names: the same bytes, of all selected images or of none.
// With From, images are copied from there to REGISTRY, VERSION included. With
// IfNewest, a tag that only the order of versions or commits forbids to move is
// left where it is, of all images, with a note. One
// reference by digest per tag is printed.
func (p *Project) Promote(ctx context.Context, o PublishOptions) error {
	if p.From["SOURCE_VERSION"] == "" {
		if err := p.needVersion(); err != nil {
			return err
		}
	}
	repos, err := p.copying("promote", o)
	if err != nil {
		return err
	}
	images, err := p.selectedImages(ctx)
	if err != nil {
		return err
	}
	var list []publish.Promotion
	for _, img := range images {
		tags := p.promotedTags(img, repos)
		if len(tags) == 0 {
			continue
		}
		if err := errors.Join(plan.CheckVersion(p.Leg, p.SourceVersion, img.Platforms), p.checkShared(img, tags)); err != nil {
			return err
		}
		one := publish.Promotion{Image: img.Name, Source: p.SourceVersion, Tags: tags, Referrers: o.Referrers}
		if one.Repo, one.From, err = repos.pair(img.Name); err != nil {
			return err
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return Usage("IMAGE_TAGS=latest SOURCE_VERSION=v1.2.3, or VERSION=v1.2.3 SOURCE_VERSION=v1.2.3-rc.4",
			"promote: no tag to move: set IMAGE_TAGS, or a VERSION that is not SOURCE_VERSION")
	}
	if err := p.claimDigests(); err != nil {
		return err
	}
	options := p.publishOptions()
	if o.IfNewest {
		options.Stays = func(tag string, why error) { p.console.Note("%s stays where it is: %v", tag, why) }
	}
	written, err := publish.Promote(ctx, list, options)
	return p.report("promote", repos, written, err)
}

// promotedTags are the shared tags of one image, the version first: VERSION
// where somebody set it, since what git describe says of this checkout is not
// what SOURCE_VERSION names. Where the source lies elsewhere, its own tag is one
// of them.
func (p *Project) promotedTags(img plan.Image, repos repositories) []string {
	var tags []string
	switch {
	case p.From["VERSION"] != "":
		tags = append(tags, p.Version)
	case repos.from != "":
		tags = append(tags, p.SourceVersion)
	}
	tags = unique(append(append(tags, p.Tags...), img.Tags...))
	if repos.from != "" {
		return tags
	}
	return without(tags, p.SourceVersion)
}

// copying is where a verb works that may copy from elsewhere.
func (p *Project) copying(verb string, o PublishOptions) (repositories, error) {
	repos := p.repositories()
	switch {
	case o.From == "" && o.Referrers:
		return repos, Usage("add --from PREFIX; in one repository they stay where they are", "%s --referrers: nothing is copied without --from", verb)
	case o.From == "":
		return repos, nil
	case !repos.remote:
		return repos, Usage("e.g. REGISTRY=ghcr.io/org", "%s --from needs REGISTRY, to copy to", verb)
	}
	from, err := config.CheckRegistry("--from", o.From)
	if from != p.Registry {
		repos.from = from
	}
	return repos, err
}

// checkShared refuses shared tags that are those of legs: whoever pulls one
// platform by such a tag would find all.
func (p *Project) checkShared(img plan.Image, tags []string) error {
	var errs []error
	for _, tag := range tags {
		errs = append(errs, registry.CheckTag(tag))
		for _, pl := range img.Platforms {
			if tag == plan.LegTag(p.Leg, p.SourceVersion, pl) || tag == plan.LegTag(p.Leg, p.Version, pl) {
				errs = append(errs, Usage("leave out what names the platform; SOURCE_VERSION may name other legs than VERSION",
					"%s: tag %s is that of its leg for %s", img.Name, tag, pl))
				break
			}
		}
	}
	return errors.Join(errs...)
}

func (p *Project) publishOptions() publish.Options {
	return publish.Options{Jobs: requests(p.Settings), Force: p.Force, Revision: p.Revision, Before: p.before}
}

// report prints every tag with what it names now. What moved before an
// interruption is said here, since nothing else is said of that.
func (p *Project) report(verb string, repos repositories, written []publish.Written, err error) error {
	for _, w := range written {
		p.done(verb, w.Image+":"+w.Tag, moved(w)+" "+words(w.Platforms))
	}
	for _, w := range written {
		p.result(repos.reference(w.Image, w.Tag, w.Digest))
	}
	p.summarizeTags(verb, written)
	if err == nil {
		p.writeDigests(written)
	}
	if is[*publish.PartialError](err) && ExitCode(err) == ExitInterrupted {
		p.console.Warn("%v", err)
	}
	return err
}
