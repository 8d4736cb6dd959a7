package compile

import (
	"context"
	"os"
	"path/filepath"

	"github.com/archmage-go/archmage/build/files"
)

// foretell is what build does in a dry run: the go command is handed to a runner
// that tells of it, and each name that it would get to is told. Whether a file
// that is there is up to date only the go command knows.
func (b *builder) foretell(ctx context.Context, g batch) []error {
	if _, err := b.goBuild(ctx, g, filepath.Join(b.Keep, g.key)); err != nil {
		return []error{err}
	}
	for _, bin := range g.binaries {
		for _, name := range append([]string{bin.Path}, bin.Also...) {
			c := files.Change{Do: "write", Path: filepath.Join(b.Root, filepath.FromSlash(name))}
			if _, err := os.Lstat(c.Path); err == nil {
				c.Note = "there is one: go knows whether it is up to date"
			}
			b.Disk.Instead(c)
		}
	}
	return nil
}
