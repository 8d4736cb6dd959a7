package build

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/publish"
)

// An interrupted program says "interrupted" and no more: what had moved by then
// would be lost.
func TestAnInterruptionSaysWhatMoved(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says bool
	}{
		{&publish.PartialError{Moved: []string{"r/a:v1"}, NotMoved: []string{"r/b:v1"}, Err: context.Canceled}, true},
		{&publish.PartialError{Moved: []string{"r/a:v1"}, NotMoved: []string{"r/b:v1"}, Err: errors.New("403")}, false}, // printed as an error is
		{context.Canceled, false},
		{nil, false},
	} {
		var out, errOut bytes.Buffer
		p := &Project{console: console.New(&out, &errOut)}
		if err := p.report("promote", repositories{}, nil, tt.err); !errors.Is(err, tt.err) {
			t.Errorf("%v became %v", tt.err, err)
		}
		if said := strings.Contains(errOut.String(), "moved r/a:v1; not moved r/b:v1"); said != tt.says || out.Len() > 0 {
			t.Errorf("%v: %q", tt.err, errOut.String())
		}
	}
}
