package rootfs

import (
	"fmt"
	"io/fs"
	"strconv"

	mode "github.com/tonistiigi/dchapes-mode"
)

// chmod is a parsed --chmod.
type chmod struct {
	octal *fs.FileMode // permissions and special bits
	set   *mode.Set    // symbolic
}

func parseChmod(s string) (chmod, error) {
	if s == "" {
		return chmod{}, nil
	}
	if bits, err := strconv.ParseUint(s, 8, 32); err == nil {
		if bits > 0o7777 {
			return chmod{}, fmt.Errorf("parse mode %q: not between 0 and 07777", s)
		}
		m := unixMode(int64(bits))
		return chmod{octal: &m}, nil
	}
	set, err := mode.ParseWithUmask(s, 0)
	if err != nil {
		return chmod{}, fmt.Errorf("parse mode %q: %w", s, err)
	}
	return chmod{set: &set}, nil
}

// unixMode is 0 to 07777 in Go's bits.
func unixMode(bits int64) fs.FileMode {
	m := fs.FileMode(bits) & fs.ModePerm
	if bits&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// apply is the mode of what is copied, m being its own. A link keeps its mode.
func (c chmod) apply(m fs.FileMode) fs.FileMode {
	switch {
	case m.Type() == fs.ModeSymlink:
		return m
	case c.set != nil:
		return c.set.Apply(m)
	case c.octal != nil:
		return m.Type() | *c.octal
	}
	return m
}

// made is the mode of directories that a copy has to make on the way. Octal
// modes reach them, symbolic ones do not.
func (c chmod) made() fs.FileMode {
	if c.octal != nil {
		return c.octal.Perm()
	}
	return 0o755
}
