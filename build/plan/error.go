package plan

import "fmt"

// UsageError is a repository or a selection that no plan can be made for.
type UsageError struct {
	Subject, Cause, hint string
}

func (e *UsageError) Error() string { return e.Subject + ": " + e.Cause }

// Hint is the line to show below the error; "" where there is none.
func (e *UsageError) Hint() string { return e.hint }

func usage(subject, hint, format string, args ...any) error {
	return &UsageError{Subject: subject, Cause: fmt.Sprintf(format, args...), hint: hint}
}
