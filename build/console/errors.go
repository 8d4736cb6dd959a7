package console

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Text is err as Error writes it, without colour and without the program's
// name: for whoever prints it himself.
func Text(err error) string {
	var lines []string
	for _, m := range messages(err) {
		lines = append(lines, m.text)
		if m.hint != "" {
			lines = append(lines, "  hint: "+m.hint)
		}
	}
	return strings.Join(lines, "\n")
}

// message is one error for people.
type message struct{ text, hint string }

func messages(err error) []message {
	var all []message
	for _, e := range Leaves(err) {
		m := message{printable(e.Error()), printable(hintOf(e))}
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// joinType is what errors.Join returns. Other errors that wrap several, such as
// those of fmt.Errorf, are one error with several causes.
var joinType = reflect.TypeOf(errors.Join(errors.New("")))

// Leaves are the errors joined into err, in order.
func Leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != joinType {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Leaves(e)...)
	}
	return all
}

// hintOf is the hint of the first error in the chain that has one.
func hintOf(err error) string {
	var h interface{ Hint() string }
	for errors.As(err, &h) {
		if hint := h.Hint(); hint != "" {
			return hint
		}
		next, ok := h.(interface{ Unwrap() error })
		if !ok {
			return ""
		}
		err = next.Unwrap()
	}
	return ""
}
