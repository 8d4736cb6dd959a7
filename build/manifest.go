package build

import (
	"context"
	"path"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// Manifest joins the legs of every selected image into one index each, and
// moves VERSION and IMAGE_TAGS there: in REGISTRY, or in IMAGE_OUT where none
// is set. It needs no Go, no engine and no bases: the list of images is enough.
// One reference by digest per written tag is printed.
func (p *Project) Manifest(ctx context.Context) error {
	images, err := p.selectedImages(ctx)
	if err != nil {
		return err
	}
	repos := p.repositories()
	joins := make([]publish.Join, len(images))
	for i, img := range images {
		if joins[i], err = p.join(repos, img); err != nil {
			return err
		}
	}
	written, err := publish.Manifest(ctx, joins, publish.Options{Jobs: p.Jobs, Force: p.Force, Revision: p.Revision, Check: p.checkLeg()})
	for _, w := range written {
		p.console.Event("manifest", w.Image+":"+w.Tag, moved(w)+" "+plan.Words(w.Platforms))
	}
	for _, w := range written {
		p.console.Result(repos.reference(w.Image, w.Tag, w.Digest))
	}
	return err
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
	if err := plan.CheckPlatforms(selected); err != nil {
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

// join says which legs of an image become which tags.
func (p *Project) join(repos repositories, img plan.Image) (publish.Join, error) {
	if err := plan.CheckVersion(p.Leg, p.SourceVersion, img.Platforms); err != nil {
		return publish.Join{}, err
	}
	repo, err := repos.open(img.Name)
	if err != nil {
		return publish.Join{}, err
	}
	j := publish.Join{Image: img.Name, Repo: repo, Tags: unique(append(append([]string{p.Version}, p.Tags...), img.Tags...))}
	for _, pl := range img.Platforms {
		j.Legs = append(j.Legs, publish.Leg{Platform: pl, Tag: plan.LegTag(p.Leg, p.SourceVersion, pl)})
	}
	return j, nil
}

// repositories is where images are: REGISTRY, or IMAGE_OUT.
type repositories struct {
	*Project
	remote bool
}

// repositories is REGISTRY where one is set, for verbs that work on what is
// there already.
func (p *Project) repositories() repositories {
	return repositories{Project: p, remote: p.Registry != ""}
}

// open returns the repository of an image, for reading and writing.
func (r repositories) open(image string) (registry.Repository, error) {
	if r.remote {
		return r.client.Open(r.name(image), registry.Write)
	}
	return registry.OpenLayout(r.path(r.name(image)), r.name(image)), nil
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
