package image

import (
	"context"
	"errors"
	"fmt"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/replay"
	"github.com/archmage-go/archmage/build/rootfs"
)

// executor runs the operations of one recipe in order. It is for one goroutine.
type executor struct {
	Native
	request Request
	done    []snapshot    // by index of the operation
	spool   *rootfs.Spool // content of archives that ADD unpacks
}

func newExecutor(n Native, r Request) *executor {
	return &executor{Native: n, request: r, spool: n.Blobs.spool()}
}

// close gives back what archives were unpacked to.
func (x *executor) close() error { return x.spool.Close() }

// run gives the snapshot that the image consists of.
func (x *executor) run(ctx context.Context) (snapshot, error) {
	r := x.request.Recipe
	for _, op := range r.Ops {
		s, err := x.operation(ctx, op)
		if err != nil {
			return snapshot{}, located(r, op, err)
		}
		x.done = append(x.done, s)
	}
	return x.at(r.Result), nil
}

// at is the result of an earlier operation.
func (x *executor) at(op int) snapshot {
	if op == dockerfile.Scratch {
		return snapshot{}
	}
	return x.done[op]
}

func (x *executor) operation(ctx context.Context, op dockerfile.Op) (snapshot, error) {
	switch op.Kind {
	case dockerfile.KindBase:
		img, err := x.Bases.Image(ctx, *op.Base)
		if err != nil {
			return snapshot{}, err
		}
		return baseSnapshot(ctx, img, op, x.Blobs)
	case dockerfile.KindContext:
		return x.context(ctx, op)
	case dockerfile.KindFile:
		return x.files(ctx, op)
	case dockerfile.KindHTTP:
		return x.remote(ctx, op.HTTP)
	case dockerfile.KindMerge:
		return x.merge(op)
	}
	return snapshot{}, fmt.Errorf("%s: not supported by the native engine", op.Kind)
}

// context is the build context as this operation sees it.
func (x *executor) context(ctx context.Context, op dockerfile.Op) (snapshot, error) {
	root, err := x.Blobs.root(x.request.Context)
	if err != nil {
		return snapshot{}, err
	}
	tree, err := rootfs.Context(ctx, root, op.Context.Follow, op.Context.Exclude)
	if err != nil {
		return snapshot{}, err
	}
	return treeSnapshot(tree), nil
}

// files runs the actions of one instruction, which make one layer.
func (x *executor) files(ctx context.Context, op dockerfile.Op) (snapshot, error) {
	actions := replay.Replay{
		Tree:  func(op int) (rootfs.Tree, error) { return x.at(op).tree(ctx) },
		Spool: x.spool,
	}
	lower, upper, err := actions.File(ctx, op.File)
	if err != nil {
		return snapshot{}, err
	}
	layer := pending{description: op.Name, where: where(x.request.Recipe, op)}
	return x.at(op.File.Parent).add(layer, lower, upper), nil
}

// merge puts the layers of its inputs on top of each other.
func (x *executor) merge(op dockerfile.Op) (snapshot, error) {
	if len(op.Inputs) == 0 {
		return snapshot{}, errors.New("merge of nothing")
	}
	merged := x.at(op.Inputs[0])
	for _, in := range op.Inputs[1:] {
		merged = merged.stack(x.at(in))
	}
	return merged, nil
}
