package image

import (
	"errors"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/replay"
)

// Owners by name come from the tree that the instruction changes, as in BuildKit
// v0.34.2, which takes what it does not find for root.
func TestOwnersByName(t *testing.T) {
	n := newNative(t)
	accounts := n.push(t, "accounts", tarLayer(t,
		"etc/", "etc/passwd=root:x:0:0::/:\napp:x:7:8::/:\n", "etc/group=root:x:0:\nstaff:x:50:\n"))
	linked := n.push(t, "linked", tarLayer(t,
		"etc/", "etc/passwd->../usr/passwd", "usr/", "usr/passwd=app:x:9:9::/:\n"))
	none := n.push(t, "none", tarLayer(t, "etc/"))
	for _, tt := range []struct{ from, chown, want string }{
		{accounts, "app", "7:8"},
		{accounts, "app:staff", "7:50"},
		{accounts, "5:staff", "5:50"},
		{accounts, ":staff", "0:50"},
		{accounts, "app:77", "7:77"},
		{accounts, "app:", "7:8"},
		{accounts, "6", "6:6"},
		{accounts, ":30", "0:30"},
		{accounts, "root", "0:0"},
		{accounts, "nobody", "0:0"},
		{accounts, "nobody:staff", "0:50"},
		{accounts, "app:nogroup", "7:8"},
		{accounts, "5:nogroup", "5:5"},
		{linked, "app", "9:9"},
		{linked, "app:staff", "9:9"},
		{none, "app:staff", "0:0"},
		{"scratch", "65532:65532", "65532:65532"},
		{"scratch", "root", "0:0"},
	} {
		img := n.build(t, plant(t, map[string]string{"a": "1"}), "FROM "+tt.from+"\nCOPY --chown="+tt.chown+" a /a\n")
		if got, want := top(t, img), "a 644 "+tt.want+" @0 =1"; len(got) != 1 || got[0] != want {
			t.Errorf("--chown=%s from %s: %q, want %s", tt.chown, tt.from, got, want)
		}
	}
}

// The names are those of the tree before the instruction, and the target's.
func TestOwnersAreLookedUpWhereTheyGo(t *testing.T) {
	n := newNative(t)
	ref := n.push(t, "base", tarLayer(t, "etc/", "etc/passwd=app:x:7:8::/:\n"))
	dir := plant(t, map[string]string{"passwd": "app:x:70:80::/:\n", "a": "1"})
	img := n.build(t, dir, "FROM scratch AS files\nCOPY a /a\nCOPY passwd /etc/passwd\n"+
		"FROM "+ref+"\nCOPY --from=files --chown=app a /a\nCOPY --chown=app passwd /etc/passwd\nCOPY --chown=app a /b\n")
	layers := layersOf(t, img)
	same(t, listing(t, layers[1]), "a 644 7:8 @0 =1")
	same(t, listing(t, layers[2]), "etc/ 755 0:0 @0", "etc/passwd 644 7:8 @0 =app:x:70:80::/:\n")
	same(t, listing(t, layers[3]), "b 644 70:80 @0 =1")
}

func TestAnOwnerByNameInAnEmptyImageIsAnErrorWithAHint(t *testing.T) {
	n := newNative(t)
	dir := plant(t, map[string]string{"a": "1"})
	for _, chown := range []string{"app", "5:staff"} {
		err := n.fails(t, dir, "FROM scratch\n\nCOPY --chown="+chown+" a /a\n")
		var unknown *replay.AccountError
		if !errors.As(err, &unknown) || unknown.Hint() != "use numbers, e.g. 65532:65532" {
			t.Errorf("--chown=%s: error %v", chown, err)
		}
		name := chown[strings.Index(chown, ":")+1:]
		says(t, err, "Dockerfile:3: user or group "+name+": an empty image has no /etc/passwd")
	}
}

func TestActions(t *testing.T) {
	n := newNative(t)
	dir := plant(t, map[string]string{"a": "1", "bin/app": "x", "d/b": "2"})
	for dockerfile, want := range map[string][]string{
		"COPY a d /x/":                {"x/ 755 0:0 @0", "x/a 644 0:0 @0 =1", "x/b 644 0:0 @0 =2"},
		"COPY --chmod=0700 bin/app /": {"app 700 0:0 @0 =x"},
		"COPY --chmod=g-r,o= a /a":    {"a 600 0:0 @0 =1"},
		"WORKDIR /w/x":                {"w/ 755 0:0 @0", "w/x/ 755 0:0 @0"},
		"COPY <<EOF /f\nhere\nEOF":    {"f 644 0:0 @0 =here\n"},
	} {
		same(t, top(t, n.build(t, dir, "FROM scratch\n"+dockerfile+"\n")), want...)
	}
}

// Times that the inputs do not say are 1970, or the epoch where there is one.
func TestTimesFollowFromTheInputs(t *testing.T) {
	n := newNative(t)
	dir := plant(t, map[string]string{"a": "1"})
	r := n.request(t, dir, "FROM scratch\nCOPY a /x/\nWORKDIR /w\n")
	epoch := time.Unix(100, 999)
	r.Epoch = &epoch
	img := value[v1.Image](t)(n.Build(t.Context(), r))
	layers := layersOf(t, img)
	same(t, listing(t, layers[0]), "x/ 755 0:0 @100", "x/a 644 0:0 @100 =1")
	same(t, listing(t, layers[1]), "w/ 755 0:0 @100")
}

func TestAnActionFromTheFutureIsAnError(t *testing.T) {
	n := newNative(t)
	for _, op := range []dockerfile.Op{
		{Kind: dockerfile.KindFile, File: &dockerfile.FileOp{Parent: dockerfile.Scratch, Actions: []dockerfile.Action{{}}}},
		{Kind: "teleport"},
		{Kind: dockerfile.KindMerge},
	} {
		r := Request{Recipe: &dockerfile.Recipe{Dockerfile: "Dockerfile", Ops: []dockerfile.Op{op}}}
		img, err := n.Build(t.Context(), r)
		if err == nil || img != nil {
			t.Errorf("%s made %v, error %v", op.Kind, img, err)
		}
	}
}
