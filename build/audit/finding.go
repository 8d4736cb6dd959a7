package audit

import (
	"errors"

	"github.com/archmage-go/archmage/build/platform"
)

// Finding is one way in which something is not what it claims to be, or one
// thing that could not be decided. It says neither path nor image: whoever
// looked knows what was looked at.
type Finding struct {
	Platform   platform.Platform `json:"platform"` // what was claimed
	Message    string            `json:"message"`
	NotChecked bool              `json:"not_checked,omitempty"` // undecided: neither wrong nor fine
	Fix        string            `json:"fix,omitempty"`         // what to do; "" where that is not known
}

// Error is the message after the platform. What is wrong with an index as a
// whole has no platform.
func (f Finding) Error() string {
	text := plain(f.Message) // it names files of the image
	if f.NotChecked {
		text = "not checked: " + text
	}
	if f.Platform == (platform.Platform{}) {
		return text
	}
	return f.Platform.String() + ": " + text
}

// Hint is the line to show below the error.
func (f Finding) Hint() string { return f.Fix }

// Wrong joins the findings that are decided, in order; nil where there is none.
func Wrong(list []Finding) error {
	var errs []error
	for _, f := range list {
		if !f.NotChecked {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}
