// Package publish makes what was built public, all or nothing.
//
// A leg, one image on one platform, is pushed by [PushLeg] under a tag of its
// own. [Manifest] joins the legs of every image into an index each and moves
// the shared tags to them; [Promote] moves shared tags to what another tag
// names. Both read and check everything first, so that what is missing or wrong
// with one image leaves every tag of every image where it was. What a shared
// tag may be moved to is decided in rules.go, for both. All of it works on
// registries and on image layouts on disk alike.
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
	Digest   string // of its receipt; where set, what Tag has to name, unless forced
}

// Join is an image whose legs become one index.
type Join struct {
	Image string              // name, for messages
	Repo  registry.Repository // opened to write; it holds the legs, unless From does
	From  registry.Repository // where set, it holds the legs, which are copied
	Legs  []Leg               // exactly the platforms of the index, in its order
	Tags  []string            // shared tags to move to it, the version first

	Version string // of the legs: what the tag latest is judged by
}

// source is the repository that holds the legs.
func (j Join) source() registry.Repository {
	if j.From != nil {
		return j.From
	}
	return j.Repo
}

// Options are common to all images of one [Manifest].
type Options struct {
	Jobs     int    // requests at once; 0 is 4
	Force    bool   // replace what would be refused
	Revision string // where set, every leg has to carry it in its RevisionLabel

	// Before reports whether commit a is known to precede commit b. nil knows
	// nothing.
	Before func(ctx context.Context, a, b string) bool

	// Stays, where set, makes it no error that what a tag names is newer, or
	// that latest takes no such version: the tag is left where it is, of all
	// images, and Stays is told of each reason.
	Stays func(tag string, why error)

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
	Platforms []string // in the order of the index
	Moved     bool     // false: it named this index before
}

// String is the reference as name:tag@digest.
func (w Written) String() string { return w.Name + ":" + w.Tag + "@" + w.Digest }

// MissingError lists everything that had to be there and is not.
type MissingError struct {
	Refs   []string
	source bool // of a promote, not legs
}

func (e *MissingError) Error() string {
	verb, noun := "join", "leg"
	if e.source {
		verb, noun = "promote", "image"
	}
	return verb + ": missing " + plural(len(e.Refs), noun) + ": " + strings.Join(e.Refs, ", ")
}

// Hint says how they come to be.
func (e *MissingError) Hint() string {
	if e.source {
		return "promote copies what manifest wrote: make manifest VERSION=…, or name what is there with SOURCE_VERSION; no tag was moved"
	}
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
type refusal struct {
	what, cause, hint string
	newer             bool // what is there is newer, or latest takes no such version
}

func (r *refusal) Error() string { return r.what + ": " + r.cause }
func (r *refusal) Hint() string  { return r.hint }

func refuse(what, format string, args ...any) *refusal {
	return &refusal{what: what, cause: oneLine(fmt.Sprintf(format, args...))}
}

// oneLine keeps what labels and indexes say, which is anybody's text, from
// looking like further lines of archmage's own.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const forceHint = "IMAGE_FORCE=true replaces it"

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
