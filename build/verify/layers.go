package verify

import (
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// layer is one instruction of the final stage, or of one that it is built FROM,
// that adds files.
type layer struct {
	op     dockerfile.Op
	ins    *dockerfile.Instruction
	before *world // what it was put on, with --link too
	after  *world // what it made of that; with --link its files alone
	link   bool
}

// layers lists what made the image after its last RUN, the first at the front.
// look is for the grower.
func (b *result) layers(look []string) []layer {
	g := &grower{result: b, look: look, worlds: map[int]*world{}}
	var list []layer
	for at := b.r.Result; at != dockerfile.Scratch; {
		op := b.r.Ops[at]
		switch op.Kind {
		case dockerfile.KindFile:
			list = append(list, layer{op, b.instruction(op), g.world(op.File.Parent), g.world(at), false})
			at = op.File.Parent
			continue
		case dockerfile.KindMerge:
			for i := len(op.Inputs) - 1; i > 0; i-- {
				top := b.r.Ops[op.Inputs[i]]
				list = append(list, layer{top, b.instruction(top), g.merge(op.Inputs[:i]), g.world(op.Inputs[i]), true})
			}
			at = op.Inputs[0]
			continue
		}
		break
	}
	slices.Reverse(list)
	return list
}
