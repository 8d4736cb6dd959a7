package image

import (
	"fmt"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// NeedsEngineError says that an instruction needs an engine.
type NeedsEngineError struct {
	Where string // file:line
	What  string // e.g. RUN
}

func (e *NeedsEngineError) Error() string { return e.Where + ": " + e.What + " needs an engine" }

// Hint is the line to show below the error.
func (e *NeedsEngineError) Hint() string {
	return "docker buildx and buildah build it: leave IMAGE_ENGINE at auto"
}

// refuse says why a recipe cannot be built natively.
func refuse(r *dockerfile.Recipe, op dockerfile.Op) error {
	what := "RUN"
	switch op.Kind {
	case dockerfile.KindGit:
		what = "a git source"
	case dockerfile.KindFrontend:
		what = "a front end of its own"
	}
	return &NeedsEngineError{Where: where(r, op), What: what}
}

// located adds the instruction's place to an error.
func located(r *dockerfile.Recipe, op dockerfile.Op, err error) error {
	return fmt.Errorf("%s: %w", where(r, op), err)
}

// where is the place of an operation; sources have none but the file's.
func where(r *dockerfile.Recipe, op dockerfile.Op) string {
	if len(op.Ranges) == 0 {
		return r.Dockerfile
	}
	return fmt.Sprintf("%s:%d", r.Dockerfile, op.Ranges[0].Start.Line)
}
