package rootfs

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestResolve(t *testing.T) {
	tree := specTree(t,
		"/usr/", "/usr/lib/", "/usr/lib/so = x", "/lib -> usr/lib", "/abs -> /usr/lib",
		"/dang -> /nowhere/x", "/up -> ../../../usr", "/chain -> lib/../bin", "/usr/bin/",
		"/file = f", "/loop -> loop2", "/loop2 -> loop", "/usr/back -> ../lib/so", "/self -> .",
		"/root/", "/root/abs -> /etc", "/root/esc -> ../../../x", "/tofile -> file")
	for _, c := range []struct {
		base, path string
		last       bool
		want       string
		err        error
	}{
		{"/", "", true, "/", nil},
		{"/", "/", true, "/", nil},
		{"/", "lib/so", true, "/usr/lib/so", nil},
		{"/", "/lib/so", false, "/usr/lib/so", nil},
		{"/", "/lib", true, "/usr/lib", nil},
		{"/", "/lib", false, "/lib", nil},
		{"/", "/lib/", false, "/lib", nil},
		{"/", "/lib//", false, "/lib", nil},
		{"/", "/lib/.", false, "/usr/lib", nil},
		{"/", "/abs/so", true, "/usr/lib/so", nil},
		{"/", "/lib/..", true, "/usr", nil},
		{"/", "/lib/../../../../file", true, "/file", nil},
		{"/", "/dang", true, "/nowhere/x", nil},
		{"/", "/dang/y/z", false, "/nowhere/x/y/z", nil},
		{"/", "/up/lib", true, "/usr/lib", nil},
		{"/", "/chain/prog", true, "/usr/bin/prog", nil},
		{"/", "/usr/back", true, "/usr/lib/so", nil},
		{"/", "/self/self/self/file", true, "/file", nil},
		{"/", "/no/../lib/no/x", true, "/usr/lib/no/x", nil},
		{"/", "/no/./a//b/", true, "/no/a/b", nil},
		{"/", "/file/..", true, "/", nil},
		{"/", "/file/x", true, "", syscall.ENOTDIR},
		{"/", "/tofile/x", true, "", syscall.ENOTDIR},
		{"/", "/loop", true, "", ErrTooManyLinks},
		{"/", "/loop", false, "/loop", nil},
		{"/", "/loop/x", false, "", ErrTooManyLinks},
		{"/root", "abs/passwd", true, "/root/etc/passwd", nil},
		{"/root/", "esc", true, "/root/x", nil},
		{"/root", "../..", true, "/root", nil},
		{"/root", "/", true, "/root", nil},
		{"/missing", "a/../b", true, "/missing/b", nil},
	} {
		got, err := tree.Resolve(c.base, c.path, c.last)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Resolve(%q, %q, %v) = %q, %v; want %q, %v", c.base, c.path, c.last, got, err, c.want, c.err)
		}
	}
}

func TestResolveFollows255LinksAndNoMore(t *testing.T) {
	lines := []string{"/l0 = end"}
	for i := range 256 {
		lines = append(lines, fmt.Sprintf("/l%d -> l%d", i+1, i))
	}
	tree := specTree(t, lines...)
	if got, err := tree.Resolve("/", "l255", true); got != "/l0" || err != nil {
		t.Errorf("255 links: %q, %v", got, err)
	}
	if _, err := tree.Resolve("/", "l256", true); !errors.Is(err, ErrTooManyLinks) {
		t.Errorf("256 links: %v", err)
	}
}
