package verify

import (
	"fmt"
	"strings"
)

// rootUser finds images that surely run as root.
var rootUser = perImage(func(b *result) []remark {
	u := b.user()
	switch {
	case !u.root():
		return nil
	case u.ins != nil:
		return []remark{{ins: u.ins, what: "the image runs as root", fix: "USER 65532:65532"}}
	case len(b.config.Entrypoint)+len(b.config.Cmd) == 0:
		return nil // it may be data
	}
	stage := &b.r.File.Stages[b.stages[0]]
	end := &stage.From
	if n := len(stage.Instructions); n > 0 {
		end = &stage.Instructions[n-1]
	}
	text, _, _ := strings.Cut(end.Text, "\n")
	fix := fmt.Sprintf("after line %d (%s): USER 65532:65532", end.Range.End.Line, text)
	return []remark{{ins: &stage.From, what: "the image has no USER and runs as root", fix: fix}}
})
