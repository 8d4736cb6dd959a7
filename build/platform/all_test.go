package platform

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestAllIsWhatGoHas compares with the go command. What containers and release
// binaries are not for is left out: phones, browsers, Plan 9.
func TestAllIsWhatGoHas(t *testing.T) {
	out, err := exec.Command("go", "tool", "dist", "list").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	var got []string
	for _, p := range All() {
		got = append(got, p.OS+"/"+p.Arch)
		if q, err := Parse(p.String()); err != nil || q != p {
			t.Errorf("%s reads back as %s, %v", p, q, err)
		}
	}
	have := strings.Fields(string(out))
	for _, name := range got {
		if !slices.Contains(have, name) {
			t.Errorf("go has no %s", name)
		}
	}
	for _, name := range have {
		os, _, _ := strings.Cut(name, "/")
		if !slices.Contains(got, name) && slices.Contains([]string{"linux", "darwin", "windows", "freebsd", "netbsd", "openbsd"}, os) {
			t.Errorf("%s is missing", name)
		}
	}
}
