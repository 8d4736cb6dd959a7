package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

func plain(t *testing.T, paths ...string) rootfs.Tree {
	t.Helper()
	e := rootfs.Tree{}.Edit()
	for _, p := range paths {
		if err := e.Write(rootfs.Write{Path: p, Mode: 0o755, Data: []byte(p)}); err != nil {
			t.Fatal(err)
		}
	}
	return e.Tree()
}

func TestAFileOperationLeadsFromItsParentToItsResult(t *testing.T) {
	trees := []rootfs.Tree{plain(t, "/old"), plain(t, "/new")}
	r := Replay{Tree: func(op int) (rootfs.Tree, error) { return trees[op], nil }}
	lower, upper, err := r.File(t.Context(), &dockerfile.FileOp{Parent: 0, Actions: []dockerfile.Action{
		{Mkdir: &dockerfile.Mkdir{Path: "/d", Mode: 0o700, Timestamp: -1}},
		{Copy: &dockerfile.Copy{From: 1, Src: "/new", Dest: "/d/", CreateDestPath: true, Mode: "0640", Timestamp: -1}},
		{Write: &dockerfile.Write{Path: "/d/w", Mode: 0o600, Data: []byte("x"), Owner: &dockerfile.Owner{User: &dockerfile.Name{ID: 7}}}},
	}})
	if err != nil || lower != trees[0] {
		t.Fatal(lower, err)
	}
	for p, want := range map[string]string{"/old": "-rwxr-xr-x", "/d": "drwx------", "/d/new": "-rw-r-----", "/d/w": "-rw-------"} {
		if n, err := upper.Lstat(p); err != nil || n.Mode.String() != want {
			t.Errorf("%s: %v %v", p, n, err)
		}
	}
	if n, _ := upper.Lstat("/d/w"); n.UID != 7 || n.GID != 7 {
		t.Errorf("owner %d:%d", n.UID, n.GID)
	}
}

func TestWhatATreeFailsWithIsTheError(t *testing.T) {
	broken := errors.New("broken")
	r := Replay{Tree: func(int) (rootfs.Tree, error) { return rootfs.Tree{}, broken }}
	for _, f := range []dockerfile.FileOp{
		{Parent: 0},
		{Parent: dockerfile.Scratch, Actions: []dockerfile.Action{{Copy: &dockerfile.Copy{From: 0, Src: "/a", Dest: "/a"}}}},
		{Parent: dockerfile.Scratch, Actions: []dockerfile.Action{{Mkdir: &dockerfile.Mkdir{Path: "/a", Owner: &dockerfile.Owner{Group: &dockerfile.Name{Name: "g", In: 0}}}}}},
	} {
		if _, _, err := r.File(t.Context(), &f); !errors.Is(err, broken) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestNothingIsDoneOnceTheCallerGaveUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Replay{}.File(ctx, &dockerfile.FileOp{Parent: dockerfile.Scratch, Actions: []dockerfile.Action{{Mkdir: &dockerfile.Mkdir{Path: "/a"}}}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
