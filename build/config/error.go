package config

import "fmt"

// Error is a setting that cannot be used: a usage error, found before any work.
type Error struct {
	Where string // e.g. "PUSH in the environment", "--push", "archmage.yaml:3:7"
	Cause string
	hint  string
}

func (e *Error) Error() string { return e.Where + ": " + e.Cause }

// Hint is the line to show below the error; "" where there is none.
func (e *Error) Hint() string { return e.hint }

// Errorf makes an error of a setting that another package found wrong.
func Errorf(where, hint, format string, args ...any) error {
	return &Error{Where: where, Cause: fmt.Sprintf(format, args...), hint: hint}
}

// problem is what a parser says of a value, before it is known where the value
// came from.
type problem struct{ cause, hint string }

func (p *problem) Error() string { return p.cause }

func bad(hint, format string, args ...any) error {
	return &problem{cause: fmt.Sprintf(format, args...), hint: hint}
}
