package build

import (
	"context"
	"errors"
	"path"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// Manifest joins the legs of every selected image into one index each, and
// moves VERSION and IMAGE_TAGS there: in REGISTRY, or in IMAGE_OUT where none
// is set. It needs no Go, no engine and no bases: the list of images is enough.
// With From, legs are read and copied from there. One reference by digest per
// written tag is printed.
func (p *Project) Manifest(ctx context.Context, o PublishOptions) error {
	if err := p.needVersion(); err != nil {
		return err
	}
	if p.SourceVersion == "latest" {
		return Usage("name the version whose legs it is: SOURCE_VERSION=v1.2.3",
			"manifest: latest has no legs of its own that could be joined")
	}
	repos, err := p.copying("manifest", o)
	if err != nil {
		return err
	}
	images, err := p.selectedImages(ctx)
	if err != nil {
		return err
	}
	receipts, err := p.received()
	if err != nil {
		return err
	}
	joins := make([]publish.Join, len(images))
	for i, img := range images {
		if joins[i], err = p.join(repos, img, receipts); err != nil {
			return err
		}
	}
	if err := p.claimDigests(); err != nil {
		return err
	}
	options := p.publishOptions()
	options.Check = p.checkLeg()
	written, err := publish.Manifest(ctx, joins, options)
	return p.report("manifest", repos, written, err)
}

func moved(w publish.Written) string {
	if w.Moved {
		return "written"
	}
	return "unchanged"
}

// selectedImages are the images that WHAT names.
func (p *Project) selectedImages(ctx context.Context) ([]plan.Image, error) {
	all, _, err := p.images()
	if err != nil {
		return nil, err
	}
	selected, rest := plan.SelectImages(all, p.What)
	if len(rest) > 0 {
		return nil, plan.Unknown(rest, all, nil)
	}
	if err := errors.Join(plan.CheckNames(selected), plan.CheckPlatforms(selected)); err != nil {
		return nil, err
	}
	if len(selected) == 0 {
		return nil, p.noImages()
	}
	return selected, ctx.Err()
}

func (p *Project) noImages() error {
	return Usage("add dockerfiles/<name>.Dockerfile or cmd/<name>/Dockerfile, or name images in archmage.yaml", "no images in %s", p.Root)
}

// join says which legs of an image become which tags. A leg that has a receipt
// has to be the one that was pushed.
func (p *Project) join(repos repositories, img plan.Image, receipts map[string]string) (publish.Join, error) {
	if err := plan.CheckVersion(p.Leg, p.SourceVersion, img.Platforms); err != nil {
		return publish.Join{}, err
	}
	j := publish.Join{Image: img.Name, Version: p.SourceVersion, Tags: unique(append(append([]string{p.Version}, p.Tags...), img.Tags...))}
	var err error
	if j.Repo, j.From, err = repos.pair(img.Name); err != nil {
		return j, err
	}
	holder := j.Repo
	if j.From != nil {
		holder = j.From
	}
	for _, pl := range img.Platforms {
		tag := plan.LegTag(p.Leg, p.SourceVersion, pl)
		j.Legs = append(j.Legs, publish.Leg{Platform: pl, Tag: tag, Digest: receipts[holder.Name()+":"+tag]})
		err = errors.Join(err, registry.CheckTag(tag))
	}
	return j, errors.Join(err, p.checkShared(img, j.Tags))
}

// repositories is where images are: REGISTRY, or IMAGE_OUT.
type repositories struct {
	*Project
	remote bool
	from   string // prefix of where images are copied from; "" where they are not
}

// repositories is REGISTRY where one is set, for verbs that work on what is
// there already.
func (p *Project) repositories() repositories {
	return repositories{Project: p, remote: p.Registry != ""}
}

// open returns the repository of an image, for reading and writing.
func (r repositories) open(image string) (registry.Repository, error) {
	return r.openFor(image, registry.Write)
}

// pair returns the repository of an image, and the one that it is copied from;
// nil where it is not.
func (r repositories) pair(image string) (to, from registry.Repository, err error) {
	if to, err = r.open(image); err != nil || r.from == "" {
		return to, nil, err
	}
	from, err = r.client.Open(r.from+"/"+image, registry.Read)
	return to, from, err
}

func (r repositories) openFor(image string, mode registry.Mode) (registry.Repository, error) {
	if r.remote {
		return r.client.Open(r.name(image), mode)
	}
	return r.dry.Of(registry.OpenLayout(r.path(r.name(image)), r.name(image))), nil
}

// name is how an image's repository is written: REGISTRY/name, or a directory
// relative to the repository's root.
func (r repositories) name(image string) string {
	if r.remote {
		return r.Registry + "/" + image
	}
	return path.Join(r.Out, image)
}

// said is what happened to a leg, in a word or two.
func (r repositories) said(s publish.State) string {
	switch {
	case s == publish.Published && r.remote:
		return "already published"
	case s == publish.Published:
		return "unchanged"
	case s == publish.Pushed && !r.remote:
		return "written"
	}
	return string(s)
}

func (r repositories) reference(image, tag, digest string) string {
	return r.name(image) + ":" + tag + "@" + digest
}
