package dockerfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/solver/pb"
	digest "github.com/opencontainers/go-digest"
)

// lowering turns BuildKit's marshalled graph into our operations. Digests of
// the graph are different each time (a local source has a random identity), so
// nothing of them is kept. What no Dockerfile is known to yield is refused: a
// recipe is right or there is none.
type lowering struct {
	e     *evaluation
	def   *llb.Definition
	index map[string]int // digest of a vertex: its place in ops
	ops   []Op
}

// lower gives the operations in an order in which inputs come first, and which
// of them the result is.
func (e *evaluation) lower(def *llb.Definition) ([]Op, int, error) {
	if len(def.Def) == 0 {
		return nil, Scratch, nil
	}
	l := &lowering{e: e, def: def, index: map[string]int{}}
	last := len(def.Def) - 1
	for _, data := range def.Def[:last] {
		if err := l.add(data); err != nil {
			return nil, 0, err
		}
	}
	var head pb.Op // names the result, and does nothing
	if err := head.UnmarshalVT(def.Def[last]); err != nil {
		return nil, 0, err
	}
	result, err := l.input(&head, 0)
	if err == nil && (head.Op != nil || len(head.Inputs) != 1) {
		err = fmt.Errorf("unexpected end of the graph")
	}
	l.placeSources()
	return l.ops, result, err
}

func (l *lowering) add(data []byte) error {
	var in pb.Op
	if err := in.UnmarshalVT(data); err != nil {
		return err
	}
	id := digest.FromBytes(data)
	op := Op{Name: l.def.Metadata[id].Description["llb.customname"], Ranges: l.ranges(id)}
	if err := l.convert(&in, &op); err != nil {
		return fmt.Errorf("operation %q: %w", op.Name, err)
	}
	if op.Kind != KindMerge {
		inputs, err := l.inputs(&in)
		if err != nil {
			return err
		}
		slices.Sort(inputs)
		op.Inputs = slices.Compact(inputs)
	}
	l.index[id.String()] = len(l.ops)
	l.ops = append(l.ops, op)
	return nil
}

func (l *lowering) convert(in *pb.Op, op *Op) (err error) {
	switch o := in.Op.(type) {
	case *pb.Op_Source:
		err = l.source(in, o.Source, op)
	case *pb.Op_File:
		op.Kind = KindFile
		op.File, err = l.file(in, o.File)
	case *pb.Op_Merge:
		op.Kind = KindMerge
		op.Inputs, err = l.merge(in, o.Merge)
	case *pb.Op_Exec:
		op.Kind = KindRun
		op.Run, err = l.run(in, o.Exec)
	default:
		err = fmt.Errorf("unexpected operation %T", in.Op)
	}
	return err
}

// input is the operation behind input i of in.
func (l *lowering) input(in *pb.Op, i int64) (int, error) {
	if i == int64(pb.Empty) {
		return Scratch, nil
	}
	if i < 0 || i >= int64(len(in.Inputs)) {
		return 0, fmt.Errorf("unexpected input %d", i)
	}
	at, ok := l.index[in.Inputs[i].Digest]
	if !ok || in.Inputs[i].Index != 0 {
		return 0, fmt.Errorf("input %d: unexpected output %d of another operation", i, in.Inputs[i].Index)
	}
	return at, nil
}

func (l *lowering) inputs(in *pb.Op) ([]int, error) {
	var list []int
	for i := range in.Inputs {
		at, err := l.input(in, int64(i))
		if err != nil {
			return nil, err
		}
		list = append(list, at)
	}
	return list, nil
}

func (l *lowering) merge(in *pb.Op, m *pb.MergeOp) ([]int, error) {
	var list []int
	for _, from := range m.Inputs {
		at, err := l.input(in, from.Input)
		if err != nil {
			return nil, err
		}
		if at == Scratch {
			return nil, fmt.Errorf("merge of nothing")
		}
		list = append(list, at)
	}
	return list, nil
}

func (l *lowering) run(in *pb.Op, x *pb.ExecOp) (*Run, error) {
	run := &Run{Parent: Scratch}
	if x.Meta != nil {
		run.Args, run.Env = x.Meta.Args, x.Meta.Env
	}
	for _, m := range x.Mounts {
		from, err := l.input(in, m.Input)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Dest == "/" && m.Output > 0:
			return nil, fmt.Errorf("unexpected output %d", m.Output)
		case m.Dest == "/":
			run.Parent = from
		case from != Scratch:
			run.Mounts = append(run.Mounts, Mount{From: from, Source: cmp.Or(m.Selector, "/"), Target: m.Dest})
		}
	}
	return run, nil
}

// ranges is where the Dockerfile says so. Equal instructions in several places
// are one operation.
func (l *lowering) ranges(id digest.Digest) []Range {
	if l.def.Source == nil {
		return nil
	}
	var all []Range
	for _, at := range l.def.Source.Locations[id.String()].GetLocations() {
		all = append(all, l.e.text.pbRanges(at.Ranges)...)
	}
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.Start.Line, b.Start.Line) })
	return slices.Compact(all)
}

// placeSources gives operations that the front end has no place for, such as
// remote files and heredocs, that of the instruction that takes from them. The
// context serves many and has none.
func (l *lowering) placeSources() {
	for _, op := range slices.Backward(l.ops) {
		for _, in := range op.Inputs {
			if from := &l.ops[in]; from.Kind != KindContext && from.Ranges == nil {
				from.Ranges = op.Ranges
			}
		}
	}
}
