// Package publish makes what was built public, all or nothing.
//
// A leg, one image on one platform, is pushed by [PushLeg] under a tag of its
// own. [Manifest] joins the legs of every image into an index each and moves
// the shared tags to them: it reads and checks everything first, so that a
// missing or wrong leg of one image leaves every tag of every image where it
// was. Both work on registries and on image layouts on disk alike.
package publish

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// RevisionLabel holds the commit that an image was built from
// (image-spec 1.1, annotations.md).
const RevisionLabel = "org.opencontainers.image.revision"

// Leg is one image on one platform, and the tag it is published under.
type Leg struct {
	Platform platform.Platform
	Tag      string
}

// Join is an image whose legs become one index.
type Join struct {
	Image string              // name, for messages
	Repo  registry.Repository // opened to write; it holds the legs
	Legs  []Leg               // exactly the platforms of the index, in its order
	Tags  []string            // shared tags to move to it, the version first
}

// Options are common to all images of one [Manifest].
type Options struct {
	Jobs     int    // requests at once; 0 is 4
	Force    bool   // replace what would be refused
	Revision string // where set, every leg has to carry it in its RevisionLabel

	// Check, where set, judges each leg before anything is written. It is
	// called from several goroutines; what it returns is reported as it is.
	Check func(context.Context, Join, Leg, v1.Image) error
}

func (o Options) jobs() int {
	if o.Jobs <= 0 {
		return 4
	}
	return o.Jobs
}

// Written is one shared tag that names the index of an image.
type Written struct {
	Image     string
	Name      string // of the repository
	Tag       string
	Digest    string
	Platforms []platform.Platform
	Moved     bool // false: it named this index before
}

// String is the reference as name:tag@digest.
func (w Written) String() string { return w.Name + ":" + w.Tag + "@" + w.Digest }

// MissingError lists every leg that had to be there and is not.
type MissingError struct {
	Legs []string // references
}

func (e *MissingError) Error() string {
	return "join: missing " + plural(len(e.Legs), "leg") + ": " + strings.Join(e.Legs, ", ")
}

// Hint says how legs come to be.
func (e *MissingError) Hint() string {
	return "build them first, each where it can be built: make image IMAGE_PLATFORMS=…, with PUSH=true for a registry; no tag was moved"
}

// PartialError says that some shared tags were moved before something failed.
type PartialError struct {
	Moved, NotMoved []string // references
	Err             error
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("move tags: moved %s; not moved %s: %v", strings.Join(e.Moved, ", "), strings.Join(e.NotMoved, ", "), e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }

// Hint says how to finish.
func (e *PartialError) Hint() string { return "run the same command again: it moves what is left" }

// refusal is a state of the registry in which going on would publish something
// wrong.
type refusal struct{ what, cause, hint string }

func (r *refusal) Error() string { return r.what + ": " + r.cause }
func (r *refusal) Hint() string  { return r.hint }

func refuse(what, format string, args ...any) *refusal {
	return &refusal{what: what, cause: fmt.Sprintf(format, args...)}
}

const forceHint = "IMAGE_FORCE=true replaces it"

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
