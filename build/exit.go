package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/compile"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// The exit codes. make turns each into 2 and go run into 1; go tool keeps them.
const (
	ExitDone        = 0
	ExitFailed      = 1 // or the answer is unknown: network, rate limit, 5xx
	ExitUsage       = 2 // usage or configuration, a Dockerfile that does not parse too
	ExitAbsent      = 3 // a leg, tag or image that had to exist does not
	ExitFindings    = 4 // of verify or audit
	ExitInterrupted = 130
)

// precedence decides between errors that happened together.
var precedence = []int{ExitInterrupted, ExitUsage, ExitFailed, ExitFindings, ExitAbsent}

// ExitCode is what the program exits with after err; nil is 0. Of several
// errors joined, the one that says most about what to do next counts:
// interrupted, usage, failed, findings, absent.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	var codes []int
	for _, e := range console.Leaves(err) {
		codes = append(codes, exitCode(e))
	}
	for _, code := range precedence {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return ExitFailed
}

func exitCode(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case is[*publish.MissingError](err), is[*registry.NoPlatformError](err), errors.Is(err, registry.ErrAbsent):
		return ExitAbsent
	case is[*registry.Error](err): // before a Dockerfile's: it may only name what cannot be read
		return ExitFailed
	case is[*UsageError](err), is[*config.Error](err), is[*plan.UsageError](err), is[*dockerfile.Error](err),
		is[*compile.UsageError](err), is[*registry.NameError](err):
		return ExitUsage
	case is[*FindingsError](err), is[audit.Finding](err), is[*differError](err):
		return ExitFindings
	}
	return ExitFailed
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// UsageError is a call that cannot be carried out as it stands.
type UsageError struct{ cause, hint string }

func (e *UsageError) Error() string { return e.cause }

// Hint is the line to show below the error; "" where there is none.
func (e *UsageError) Hint() string { return e.hint }

// Usage makes a [UsageError].
func Usage(hint, format string, args ...any) error {
	return &UsageError{cause: fmt.Sprintf(format, args...), hint: hint}
}

// FindingsError says that verify or audit found something; the findings
// themselves are printed.
type FindingsError struct {
	Verb     string
	Errors   int
	Warnings int // where they count, too
	Fixable  int // of them, what verify --fix would put right
}

func (e *FindingsError) Error() string {
	return e.Verb + ": " + counts(e.Errors, e.Warnings)
}

// Hint is the line to show below the error.
func (e *FindingsError) Hint() string {
	if e.Verb == "audit" {
		return "what to do stands below each finding; IMAGE_VERIFY=false prints them and stops nothing"
	}
	lines := "write the lines shown"
	switch {
	case e.Fixable == 1:
		lines += " (`archmage verify --fix` writes 1 of them)"
	case e.Fixable > 1:
		lines += fmt.Sprintf(" (`archmage verify --fix` writes %d of them)", e.Fixable)
	}
	return lines + ", or set IMAGE_VERIFY=false to build regardless"
}
