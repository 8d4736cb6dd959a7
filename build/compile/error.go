package compile

// UsageError is a setting that nothing can be compiled with. It is found before
// anything is.
type UsageError struct{ cause, hint string }

func (e *UsageError) Error() string { return e.cause }

// Hint is the line to show below the error.
func (e *UsageError) Hint() string { return e.hint }
