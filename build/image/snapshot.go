package image

import (
	"context"
	"fmt"
	"sync"

	"github.com/archmage-go/archmage/build/rootfs"
)

// snapshot is the result of an operation: the layers it consists of, and the
// tree that they fold to, which is only made when somebody asks.
type snapshot struct {
	layers []pending
	fold   func(context.Context) (rootfs.Tree, error) // nil is the empty tree
}

// tree is the file tree.
func (s snapshot) tree(ctx context.Context) (rootfs.Tree, error) {
	if s.fold == nil {
		return rootfs.Tree{}, nil
	}
	return s.fold(ctx)
}

// treeSnapshot is a tree without layers: a source of copies.
func treeSnapshot(t rootfs.Tree) snapshot {
	return snapshot{fold: func(context.Context) (rootfs.Tree, error) { return t, nil }}
}

// add is s with the layer p, which leads from lower, s's own tree, to upper.
func (s snapshot) add(p pending, lower, upper rootfs.Tree) snapshot {
	diff := sync.OnceValue(func() []rootfs.Entry { return rootfs.Diff(lower, upper) })
	p.entries = func(context.Context) ([]rootfs.Entry, error) { return diff(), nil }
	return snapshot{layers: append(s.layers[:len(s.layers):len(s.layers)], p), fold: treeSnapshot(upper).fold}
}

// maxEntries bounds what a base's layers list together: each entry takes some
// 400 bytes of memory, and anybody may have written them.
const maxEntries = 2 << 20

// stack is s with the layers of t on top. The tree is folded from the layers.
func (s snapshot) stack(t snapshot) snapshot {
	layers := append(s.layers[:len(s.layers):len(s.layers)], t.layers...)
	return snapshot{layers: layers, fold: once(func(ctx context.Context) (rootfs.Tree, error) {
		tree, err := s.tree(ctx)
		count := 0
		for _, p := range t.layers {
			if err != nil {
				return rootfs.Tree{}, err
			}
			var entries []rootfs.Entry
			if entries, err = p.entries(ctx); err == nil {
				tree, err = tree.Apply(entries)
			}
			if count += len(entries); err == nil && count > maxEntries {
				err = fmt.Errorf("the layers list more than %d files", maxEntries)
			}
		}
		return tree, err
	})}
}

// once remembers the first answer, unless it was an error.
func once(fn func(context.Context) (rootfs.Tree, error)) func(context.Context) (rootfs.Tree, error) {
	var mu sync.Mutex
	var tree rootfs.Tree
	var known bool
	return func(ctx context.Context) (rootfs.Tree, error) {
		mu.Lock()
		defer mu.Unlock()
		if known {
			return tree, nil
		}
		var err error
		tree, err = fn(ctx)
		known = err == nil
		return tree, err
	}
}
