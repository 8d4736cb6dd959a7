package build

import (
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/registry"
)

// refForms are the forms of REF, for hints.
const refForms = "e.g. ghcr.io/org/app:v1.2.3, ghcr.io/org/app@sha256:…, dist/app:v1.2.3, or the name of an image here"

// reference opens what REF names, to read: registry/name:tag, name@digest, what
// archmage prints (name:tag@digest, of which the digest counts), an image layout
// as a path, or an image of this repository by its name alone. The last two take
// VERSION where no tag is given, others latest.
func (p *Project) reference(text string) (repo registry.Repository, ref string, err error) {
	name, ref, err := splitRef(text)
	if err != nil {
		return nil, "", err
	}
	switch {
	case p.isLayout(name):
		dir := name
		if !filepath.IsAbs(dir) {
			dir = p.path(name)
		}
		repo = registry.OpenLayout(dir, name)
	case !strings.Contains(name, "/"):
		if repo, err = p.ownImage(text, name); err != nil {
			return nil, "", err
		}
	default:
		repo, err = p.client.Open(name, registry.Read)
		ref = cmp.Or(ref, "latest") // as for docker
	}
	if ref == "" {
		ref = p.Version
	}
	return repo, ref, err
}

// splitRef cuts a reference into a name and a tag or digest; "" where it has
// neither.
func splitRef(text string) (name, ref string, err error) {
	name, digest, hasDigest := strings.Cut(text, "@")
	slash := strings.LastIndex(name, "/")
	if colon := strings.LastIndex(name, ":"); colon > slash {
		name, ref = name[:colon], name[colon+1:]
		if err := registry.CheckTag(ref); err != nil {
			return "", "", err
		}
	}
	if hasDigest {
		if _, err := v1.NewHash(digest); err != nil {
			return "", "", Usage(refForms, "%s: %q is no digest", text, digest)
		}
		ref = digest
	}
	if name == "" {
		return "", "", Usage(refForms, "%q is no reference", text)
	}
	return name, ref, nil
}

// isLayout reports whether a name is the path of an image layout: it looks like
// a path, lies in IMAGE_OUT, or is one.
func (p *Project) isLayout(name string) bool {
	if path.IsAbs(name) || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, p.Out+"/") {
		return true
	}
	_, err := os.Stat(filepath.Join(p.path(name), "oci-layout"))
	return err == nil
}

// ownImage is the repository of an image of this one, by its name.
func (p *Project) ownImage(text, name string) (registry.Repository, error) {
	images, _, err := p.images()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, img := range images {
		if img.Name == name {
			return p.repositories().openFor(name, registry.Read)
		}
		names = append(names, img.Name)
	}
	hint := refForms
	if near := console.Nearest(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return nil, Usage(hint, "%s: no image here is called %s", text, name)
}

// absent is a denial to read, taken as absence: registries hide what is not
// there from those who may not know.
type absent struct{ err error }

func (e *absent) Error() string { return "absent, or not permitted: " + e.err.Error() }

// Unwrap gives errors.Is absence, and the cause with its hint.
func (e *absent) Unwrap() []error { return []error{registry.ErrAbsent, e.err} }

// orDenied is err, with a plain denial as absence.
func orDenied(err error) error {
	if errors.Is(err, registry.ErrDenied) {
		return &absent{err}
	}
	return err
}
