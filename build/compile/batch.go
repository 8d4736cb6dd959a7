package compile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// batch is what one go command builds: commands of one module for one platform,
// of which no two make a file of the same name.
type batch struct {
	platform platform.Platform
	module   string
	binaries []plan.Binary
	env      []string
	key      string // name of the directory that is kept
	procs    int    // processors that it may use; 0 is all
}

// group sorts binaries into batches, in the order of each one's first.
func group(binaries []plan.Binary, o Options) []batch {
	var all []batch
	for _, bin := range binaries {
		i := slices.IndexFunc(all, func(b batch) bool {
			return b.platform == bin.Platform && b.module == bin.Module && !slices.Contains(b.files(), fileName(bin))
		})
		if i < 0 {
			i = len(all)
			all = append(all, batch{platform: bin.Platform, module: bin.Module, env: environment(bin.Platform, o)})
		}
		all[i].binaries = append(all[i].binaries, bin)
	}
	used := map[string]bool{}
	for i := range all {
		for n := 0; all[i].key == "" || used[all[i].key]; n++ {
			all[i].key = all[i].keyed(n)
		}
		used[all[i].key] = true
	}
	return all
}

// keyed names the directory by platform, module and environment. Linker flags
// are not in it: they may hold a version or a date, so that every commit would
// leave a directory behind, and the go command links again when they change.
func (b batch) keyed(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", b.module, b.env, n))
	return b.platform.OS + "-" + b.platform.Suffix() + "-" + hex.EncodeToString(sum[:4])
}

// fileName is what `go build -o dir/` calls the program of a package: the last
// element of its import path that is no major version.
func fileName(bin plan.Binary) string {
	name := path.Base(bin.Package)
	if dir := path.Dir(bin.Package); majorVersion(name) && dir != "." {
		name = path.Base(dir)
	}
	if bin.Platform.OS == "windows" {
		name += ".exe"
	}
	return name
}

// majorVersion reports whether a path element is v2, v3, v10, …
func majorVersion(s string) bool {
	digits, ok := strings.CutPrefix(s, "v")
	return ok && digits != "" && digits != "1" && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}

func (b batch) commands() []string {
	names := make([]string, len(b.binaries))
	for i, bin := range b.binaries {
		names[i] = bin.Command
	}
	return names
}

func (b batch) file(i int) string { return fileName(b.binaries[i]) }

func (b batch) files() []string {
	names := make([]string, len(b.binaries))
	for i := range b.binaries {
		names[i] = b.file(i)
	}
	return names
}

// goBuild runs one go command. Its two streams are one text, as on a terminal.
func (b *builder) goBuild(ctx context.Context, g batch, dir string) (output string, err error) {
	args := []string{"build", "-trimpath"}
	if b.ldflags != "" {
		args = append(args, "-ldflags="+b.ldflags)
	}
	args = append(args, "-o", dir+string(filepath.Separator))
	for _, bin := range g.binaries {
		args = append(args, bin.Package)
	}
	var text bytes.Buffer
	err = b.runner.Run(ctx, run.Cmd{
		Name: "go", Args: args, Dir: filepath.Join(b.Root, filepath.FromSlash(g.module)),
		Env: g.env, Default: b.settings(g), Stdout: &text, Stderr: &text,
	})
	return strings.TrimRight(text.String(), "\n"), err
}
