// Package image turns a recipe into an image. Whichever engine builds it, the
// result is one v1.Image, so that pushing, auditing and joining know no engine.
//
// The native engine executes the file operations of a recipe on trees in
// memory: base layers are read only when an operation needs to know what is in
// them, and a new layer is written straight from the files it holds. Config,
// history, layers and merged tree are those that BuildKit v0.34.2 makes, except
// for times, which follow from the inputs alone.
package image

import (
	"context"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// Builder makes the image of one leg. An implementation must return the same
// digest for the same request, unless it says otherwise.
type Builder interface {
	Build(ctx context.Context, r Request) (v1.Image, error)
}

// Request is one leg to build.
type Request struct {
	Recipe      *dockerfile.Recipe
	Root        string            // directory that the recipe's Dockerfile is relative to; engines read it there
	Context     string            // directory of the build context
	Annotations map[string]string // of the manifest
	Format      Format

	// For engines: what the recipe was evaluated with, since they evaluate it
	// again, and what only they can use.
	Name         string // of the image, for messages
	BuildArgs    map[string]string
	Labels       map[string]string
	Omit         string   // path in the context that is never part of it
	Secrets, SSH []string // as buildx spells them
	Cache        string   // reference of a build cache; "" is none
	WriteCache   bool
	Pinned       []Pinned // bases that are read elsewhere than their name says

	// Progress, where set, is told how many bytes of a new layer are read and
	// compressed so far. A layer that several legs have is of the first of them.
	Progress func(bytes int64)

	// Created is the time of the config and of what the Dockerfile added to
	// the history.
	Created time.Time
	// Epoch, where set, is the time of every file that has none of its own:
	// what comes from the context, and the directories that instructions make.
	// Unset is 1970-01-01.
	Epoch *time.Time
}

// Pinned is a base that is read at At, NAME@DIGEST, instead of at Ref.
type Pinned struct{ Ref, At string }

// leg is the name of the leg, for messages.
func (r Request) leg() string { return r.Name + " " + r.Recipe.Platform.String() }

// Format is how manifest, config and new layers are written. The zero value is
// OCI media types and gzip.
type Format struct {
	Docker bool // Docker's media types instead of OCI's
	Zstd   bool // compression of new layers; layers of a base stay as they are
}
