package verify

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/rootfs"
)

func TestWhatAUserMayDo(t *testing.T) {
	const passwd = "COPY passwd /etc/passwd\n"
	for _, tt := range []struct {
		text string // below FROM
		from string
		mode fs.FileMode
		owns string // of the node: uid:gid
		want string // read and execute: y, n or ?
	}{
		{"", "scratch", 0o644, "0:0", "yn"},
		{"", "scratch", 0o100, "5:5", "yy"},
		{"", "scratch", 0o001, "5:5", "yy"},
		{"", "scratch", 0, "5:5", "yn"},
		{"USER root", "alpine", 0, "5:5", "yn"},
		{"USER 5:6", "scratch", 0o755, "5:6", "yy"},
		{"USER 5:6", "scratch", 0o077, "5:6", "nn"},
		{"USER 5:6", "scratch", 0o050, "1:6", "yy"},
		{"USER 5:6", "scratch", 0o705, "1:6", "nn"},
		{"USER 5:6", "scratch", 0o770, "1:1", "nn"},
		{"USER 5:6", "scratch", 0o005, "1:1", "yy"},
		{"USER 5", "scratch", 0o050, "1:0", "yy"},
		{"USER 5", "scratch", 0o705, "1:0", "nn"},
		{"USER 5", "alpine", 0o750, "0:0", "??"},
		{"USER 5", "alpine", 0o700, "0:0", "nn"},
		{"USER 5", "alpine", 0o055, "0:0", "yy"},
		{"USER 5", "alpine", 0o005, "5:0", "nn"},
		{"USER app", "alpine", 0o750, "0:0", "??"},
		{"USER app", "alpine", 0o700, "0:0", "nn"},
		{"USER app", "alpine", 0o700, "7:0", "??"},
		{"USER app", "alpine", 0o640, "0:0", "?n"},
		{passwd + "USER app", "scratch", 0o500, "7:1", "yy"},
		{passwd + "USER app", "scratch", 0o055, "7:1", "nn"},
		{passwd + "USER app", "scratch", 0o050, "1:8", "??"},
		{passwd + "USER app:9", "scratch", 0o050, "1:9", "yy"},
		{passwd + "USER 7", "scratch", 0o050, "1:0", "??"},
		{"", "someone/base", 0o100, "0:0", "??"},
		{"", "someone/base", 0, "0:0", "?n"},
		{"", "someone/base", 0o555, "0:0", "yy"},
		{"", "gcr.io/distroless/static:nonroot", 0o750, "0:0", "nn"},
		{"", "gcr.io/distroless/static:nonroot", 0o750, "0:65532", "yy"},
		{"USER nonroot", "gcr.io/distroless/static:nonroot", 0o500, "65532:0", "yy"},
		{"USER 1000", "gcr.io/distroless/static:nonroot", 0o050, "1:0", "yy"},
		{"USER 5:6", "scratch", 0o700, "?:0", "??"},
		{"USER 5:6", "scratch", 0o070, "0:?", "??"},
	} {
		b := tree(t, "", "FROM "+tt.from+"\n"+tt.text+"\nENTRYPOINT [\"/x\"]\n", file("passwd", "app:x:7:8::/:\n"))
		n := &rootfs.Node{Mode: tt.mode}
		for i, text := range strings.Split(tt.owns, ":") {
			id, err := strconv.Atoi(text)
			if err != nil {
				id = someone
			}
			if i == 0 {
				n.UID = id
			} else {
				n.GID = id
			}
		}
		word := map[verdict]string{allowed: "y", denied: "n", perhaps: "?"}
		if got := word[b.user().may(n, 4)] + word[b.user().may(n, 1)]; got != tt.want {
			t.Errorf("FROM %s %q, mode %o of %s: %s, want %s", tt.from, tt.text, tt.mode, tt.owns, got, tt.want)
		}
	}
}
