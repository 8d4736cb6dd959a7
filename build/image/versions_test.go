package image

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"golang.org/x/mod/modfile"
)

// What is remembered of layers is for these versions.
func TestCompressorsAreThoseOfTheModule(t *testing.T) {
	name := filepath.Join("..", "..", "go.mod")
	mod := value[*modfile.File](t)(modfile.Parse(name, value[[]byte](t)(os.ReadFile(name)), nil))
	required := map[string]string{}
	for _, r := range mod.Require {
		required[r.Mod.Path] = r.Mod.Version
	}
	for _, c := range compressors {
		if required[c.path] != c.version {
			t.Errorf("%s %s, go.mod says %q", c.path, c.version, required[c.path])
		}
	}
}

func TestTheMethodNamesWhatDecidesTheBytes(t *testing.T) {
	with := func(m debug.Module) *debug.BuildInfo { return &debug.BuildInfo{Deps: []*debug.Module{{Path: "x"}, &m}} }
	const pgzip = "github.com/klauspost/pgzip"
	seen := map[string]bool{}
	for _, info := range []*debug.BuildInfo{
		nil,
		with(debug.Module{Path: pgzip, Version: "v1.4.0", Sum: "h1:a"}),
		with(debug.Module{Path: pgzip, Version: "v1.4.0", Sum: "h1:b"}),
		with(debug.Module{Path: pgzip, Version: "v1.4.0", Sum: "h1:a", Replace: &debug.Module{Path: "../own"}}),
		with(debug.Module{Path: "github.com/klauspost/compress", Version: "v1.21.0"}),
	} {
		for _, f := range []Format{{}, {Zstd: true}} {
			seen[f.method(info)] = true
		}
		if (Format{}).method(info) != (Format{Docker: true}).method(info) {
			t.Error("media types change bytes")
		}
	}
	if len(seen) != 10 {
		t.Errorf("methods %v", seen)
	}
}
