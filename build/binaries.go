package build

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/plan"
)

// releaseDir is where release binaries go, below IMAGE_OUT.
const releaseDir = "release"

// sumsFile holds the checksums of what is there.
const sumsFile = "checksums.txt"

// Binaries compiles the commands that WHAT names for RELEASE_PLATFORMS, and
// writes a checksums.txt of exactly these beside them, in sha256sum's format.
// Each path is printed.
func (p *Project) Binaries(ctx context.Context) error {
	if err := p.needVersion(); err != nil {
		return err
	}
	found, err := plan.Commands(ctx, p.runner, p.Root, p.Release, p.goEnv()...)
	if err != nil {
		return err
	}
	commands, err := p.selectedCommands(found)
	if err != nil {
		return err
	}
	binaries := p.releases(commands)
	if len(binaries) == 0 {
		return Usage("", "no commands in %s", p.Root)
	}
	if err := p.ownOut(releaseDir); err != nil {
		return err
	}
	err = p.compile(ctx, binaries)
	p.summarizeBinaries("binaries")
	if err != nil {
		return err
	}
	if p.DryRun { // there is nothing to sum up
		return p.disk.Write(p.path(path.Join(p.Out, releaseDir, sumsFile)), nil)
	}
	sums, err := p.checksums(binaries)
	if err != nil {
		return err
	}
	for _, b := range binaries {
		p.result(b.Path)
	}
	p.console.Result(sums)
	return nil
}

// releases names one binary per command and platform.
func (p *Project) releases(commands []plan.Command) []plan.Binary {
	var binaries []plan.Binary
	for _, c := range commands {
		for _, pl := range p.Release {
			if !slices.Contains(c.Platforms, pl) {
				continue
			}
			name := c.Name + "-" + pl.OS + "-" + pl.Suffix()
			if pl.OS == "windows" {
				name += ".exe"
			}
			binaries = append(binaries, plan.Binary{
				Command: c.Name, Package: c.ImportPath, Module: c.Module, Platform: pl,
				Path: path.Join(p.Out, releaseDir, name),
			})
		}
	}
	return binaries
}

// checksums writes the sums of the binaries, sorted by name.
func (p *Project) checksums(binaries []plan.Binary) (string, error) {
	var lines []string
	for _, b := range binaries {
		sum, err := sumFile(p.path(b.Path))
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s  %s\n", sum, path.Base(b.Path)))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	file := path.Join(p.Out, releaseDir, sumsFile)
	var out bytes.Buffer
	for _, l := range lines {
		out.WriteString(l)
	}
	return file, p.disk.Write(p.path(file), out.Bytes())
}

// sumFile is the SHA-256 of a file, in hexadecimal digits.
func sumFile(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, bufio.NewReaderSize(f, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), err
}
