package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rogpeppe/go-internal/testscript"
)

// What scripts read back, they read with go-containerregistry alone: not with
// the code that wrote it.

// printTree lists the files of an image, sorted: mode, owner, size, name, link
// target. usage: tree REF [file…]
func printTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: tree REF [name…]")
	}
	files, err := readTree(readImage(ts, args[0]))
	ts.Check(err)
	for _, f := range files {
		if len(args) > 1 && !slices.Contains(args[1:], f.name) {
			continue
		}
		link := ""
		if f.header.Linkname != "" {
			link = " -> " + f.header.Linkname
		}
		size := strconv.FormatInt(f.header.Size, 10)
		if f.header.Size > 100_000 {
			size = "big" // a program: its size depends on the version of Go
		}
		fmt.Fprintf(ts.Stdout(), "%s %d:%d %s %s%s\n", f.header.FileInfo().Mode(), f.header.Uid, f.header.Gid, size, f.name, link)
	}
}

// printTimes lists the time of every file. usage: mtimes REF
func printTimes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mtimes REF")
	}
	files, err := readTree(readImage(ts, args[0]))
	ts.Check(err)
	for _, f := range files {
		fmt.Fprintln(ts.Stdout(), f.header.ModTime.UTC().Format(time.RFC3339), f.name)
	}
}

// printConfig prints an image's config, indented. usage: config REF
func printConfig(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: config REF")
	}
	raw, err := readImage(ts, args[0]).RawConfigFile()
	ts.Check(err)
	var out bytes.Buffer
	ts.Check(json.Indent(&out, raw, "", "  "))
	fmt.Fprintln(ts.Stdout(), out.String())
}

// printManifest prints an image's manifest, indented. usage: manifest REF
func printManifest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: manifest REF")
	}
	raw, err := readImage(ts, args[0]).RawManifest()
	ts.Check(err)
	var out bytes.Buffer
	ts.Check(json.Indent(&out, raw, "", "  "))
	fmt.Fprintln(ts.Stdout(), out.String())
}

// printIndex prints one line per entry of an index: platform, media type and
// whether the config agrees. usage: index REF
func printIndex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: index REF")
	}
	idx := readIndex(ts, args[0])
	m, err := idx.IndexManifest()
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), m.MediaType)
	for _, d := range m.Manifests {
		img, err := idx.Image(d.Digest)
		ts.Check(err)
		cfg, err := img.ConfigFile()
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%s %s config %s\n", d.Platform, d.MediaType, cfg.Platform())
	}
}

// printTags lists the tags of a repository, sorted, but for those by which
// referrers are found where a registry has no API for them, without -all.
// usage: tags [-all] HOST/NAME
func printTags(ts *testscript.TestScript, neg bool, args []string) {
	all := len(args) == 2 && args[0] == "-all"
	if neg || len(args) != 1 && !all {
		ts.Fatalf("usage: tags [-all] HOST/NAME")
	}
	repo, err := name.NewRepository(args[len(args)-1])
	ts.Check(err)
	tags, err := remote.List(repo)
	ts.Check(err)
	if !all {
		tags = slices.DeleteFunc(tags, regexp.MustCompile(`^sha256-[0-9a-f]{64}$`).MatchString)
	}
	sort.Strings(tags)
	fmt.Fprintln(ts.Stdout(), strings.Join(tags, "\n"))
}

// checkMachine checks the ELF machine of a file in an image.
// usage: machine REF FILE EM_X86_64
func checkMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: machine REF FILE MACHINE")
	}
	files, err := readTree(readImage(ts, args[0]))
	ts.Check(err)
	for _, f := range files {
		if f.name == args[1] {
			e, err := elf.NewFile(bytes.NewReader(f.data))
			ts.Check(err)
			if e.Machine.String() != args[2] {
				ts.Fatalf("%s in %s is %s, want %s", args[1], args[0], e.Machine, args[2])
			}
			return
		}
	}
	ts.Fatalf("%s: not in %s", args[1], args[0])
}

// readImage reads HOST/name:tag, HOST/name:tag,os/arch[/variant] of an index,
// or layout directories in the form dist/name:tag.
func readImage(ts *testscript.TestScript, ref string) v1.Image {
	ref, platform, ofIndex := strings.Cut(ref, ",")
	if ofIndex {
		idx := readIndex(ts, ref)
		m, err := idx.IndexManifest()
		ts.Check(err)
		for _, d := range m.Manifests {
			if d.Platform != nil && d.Platform.String() == platform {
				img, err := idx.Image(d.Digest)
				ts.Check(err)
				return img
			}
		}
		ts.Fatalf("%s has no %s", ref, platform)
	}
	if dir, tag, ok := layoutRef(ref); ok {
		idx, d := layoutEntry(ts, dir, tag)
		img, err := idx.Image(d.Digest)
		ts.Check(err)
		return img
	}
	r, err := name.ParseReference(ref)
	ts.Check(err)
	img, err := remote.Image(r)
	ts.Check(err)
	return img
}

func readIndex(ts *testscript.TestScript, ref string) v1.ImageIndex {
	if dir, tag, ok := layoutRef(ref); ok {
		top, d := layoutEntry(ts, dir, tag)
		idx, err := top.ImageIndex(d.Digest)
		ts.Check(err)
		return idx
	}
	r, err := name.ParseReference(ref)
	ts.Check(err)
	idx, err := remote.Index(r)
	ts.Check(err)
	return idx
}

func layoutRef(ref string) (dir, tag string, ok bool) {
	if !strings.HasPrefix(ref, "dist/") && !filepath.IsAbs(ref) && !strings.HasPrefix(ref, "out/") {
		return "", "", false
	}
	i := strings.LastIndex(ref, ":")
	return ref[:i], ref[i+1:], true
}

func layoutEntry(ts *testscript.TestScript, dir, tag string) (v1.ImageIndex, v1.Descriptor) {
	idx, err := layout.ImageIndexFromPath(ts.MkAbs(dir))
	ts.Check(err)
	m, err := idx.IndexManifest()
	ts.Check(err)
	var found []v1.Descriptor
	for _, d := range m.Manifests {
		if d.Annotations["org.opencontainers.image.ref.name"] == tag {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		ts.Fatalf("%s has %d entries tagged %s, want one", dir, len(found), tag)
	}
	return idx, found[0]
}

type file struct {
	name   string
	header *tar.Header
	data   []byte
}

// readTree lays the layers over each other: the last entry of a name counts.
// Whiteouts are not needed by what scripts build.
func readTree(img v1.Image) ([]file, error) {
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	merged := map[string]file{}
	for _, l := range layers {
		r, err := l.Uncompressed()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		for t := tar.NewReader(r); ; {
			h, err := t.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			data, err := io.ReadAll(t)
			if err != nil {
				return nil, err
			}
			name := "/" + strings.Trim(h.Name, "/")
			merged[name] = file{name, h, data}
		}
	}
	files := make([]file, 0, len(merged))
	for _, f := range merged {
		files = append(files, f)
	}
	sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
	return files, nil
}
