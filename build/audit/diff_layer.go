package audit

import (
	"archive/tar"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// layer compares two layers whose digests differ, file by file.
func (d *differ) layer(ctx context.Context, in string, pair [2]stored) error {
	d.descriptors(in, pair[0].entry, pair[1].entry)
	var scans [2]scan
	for i, from := range pair {
		if !from.entry.MediaType.IsDistributable() {
			d.unsure("%s: %s (%s) is not stored with the image", d.platform, in, from.entry.Digest)
			return nil
		}
		scans[i].room = &room{dir: d.options.Dir, left: mostKept}
		defer scans[i].close()
		if err := scans[i].read(ctx, from); err != nil {
			return fmt.Errorf("compare %s: %s %s (%s): %w", d.sides[i].Called, d.platform, in, from.entry.Digest, err)
		}
	}
	if scans[0].sum == scans[1].sum {
		d.add(in, "", "compression", packing(pair[0]), packing(pair[1]))
		return nil
	}
	before := d.found()
	d.files(in, &scans[0], &scans[1])
	if d.found() == before {
		d.written(in, scans[0].lines, scans[1].lines)
	}
	return nil
}

// files compares the files that two layers list. Of a name that one lists twice
// the last counts, as for who unpacks it.
func (d *differ) files(in string, a, b *scan) {
	inA, inB := byName(a.lines), byName(b.lines)
	names := slices.Collect(maps.Keys(inA))
	for name := range inB {
		if _, ok := inA[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, isA := inA[name]
		y, isB := inB[name]
		switch {
		case !isB:
			d.add(in, name, "only in A", x.kind(), "")
		case !isA:
			d.add(in, name, "only in B", "", y.kind())
		default:
			d.file(in, x, y)
			if x.sum == "sparse" || y.sum == "sparse" {
				d.unsure("%s: %s: the content of %s, a sparse file", d.platform, in, name)
			} else if x.sum != y.sum {
				d.goInfo(in, name, a.program(x), b.program(y))
			}
		}
	}
}

func byName(lines []line) map[string]line {
	m := make(map[string]line, len(lines))
	for _, l := range lines {
		m[l.name] = l
	}
	return m
}

// kind is what an entry is, for people.
func (l line) kind() string {
	switch l.header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return "file"
	case tar.TypeLink:
		return "hard link"
	case tar.TypeSymlink:
		return "link"
	case tar.TypeDir:
		return "directory"
	case tar.TypeChar, tar.TypeBlock:
		return "device"
	case tar.TypeFifo:
		return "fifo"
	}
	return fmt.Sprintf("type %q", l.header.Typeflag)
}

// file compares all that two entries of one name say.
func (d *differ) file(in string, x, y line) {
	for _, f := range []struct{ what, a, b string }{
		{"type", x.kind(), y.kind()},
		{"mode", fmt.Sprintf("%#o", x.header.Mode), fmt.Sprintf("%#o", y.header.Mode)},
		{"owner", owner(x.header), owner(y.header)},
		{"mtime", when(x.header.ModTime), when(y.header.ModTime)},
		{"link target", x.header.Linkname, y.header.Linkname},
		{"device", device(x.header), device(y.header)},
		{"size", fmt.Sprint(x.header.Size), fmt.Sprint(y.header.Size)},
		{"content", sum(x.sum), sum(y.sum)},
	} {
		if f.a != f.b {
			d.add(in, x.name, f.what, f.a, f.b)
		}
	}
	d.attributes(in, x, y)
}

func sum(hex string) string {
	if hex == "" || hex == "sparse" {
		return hex
	}
	return "sha256:" + hex
}

func owner(h tar.Header) string {
	text := fmt.Sprintf("%d:%d", h.Uid, h.Gid)
	if h.Uname+h.Gname != "" {
		text += " " + h.Uname + ":" + h.Gname
	}
	return text
}

func device(h tar.Header) string { return fmt.Sprintf("%d:%d", h.Devmajor, h.Devminor) }

func when(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// attributes compares extended attributes, capabilities among them.
func (d *differ) attributes(in string, x, y line) {
	const xattr = "SCHILY.xattr."
	keys := slices.Concat(slices.Collect(maps.Keys(x.header.PAXRecords)), slices.Collect(maps.Keys(y.header.PAXRecords)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		a, b := x.header.PAXRecords[key], y.header.PAXRecords[key]
		if strings.HasPrefix(key, xattr) && a != b {
			d.add(in, x.name, "attribute "+strings.TrimPrefix(key, xattr), fmt.Sprintf("%x", a), fmt.Sprintf("%x", b))
		}
	}
}

// written says how two tars of the same files differ.
func (d *differ) written(in string, a, b []line) {
	for i := range min(len(a), len(b)) {
		if a[i].name != b[i].name {
			d.add(in, "", "order", fmt.Sprintf("entry %d is %s", i+1, a[i].name), fmt.Sprintf("entry %d is %s", i+1, b[i].name))
			return
		}
	}
	if len(a) != len(b) {
		d.add(in, "", "entries", fmt.Sprint(len(a)), fmt.Sprint(len(b)))
		return
	}
	for i := range a {
		if x, y := a[i].header.Format.String(), b[i].header.Format.String(); x != y {
			d.add(in, a[i].name, "tar format", x, y)
			return
		}
	}
	d.add(in, "", "tar", "the same files, written differently", "")
}

// packing tells how a layer is compressed: RFC 1952, 2.3 has gzip's header.
func packing(from stored) string {
	text := fmt.Sprintf("%d bytes", from.entry.Size)
	in, err := from.layer.Compressed()
	if err != nil {
		return text
	}
	defer in.Close()
	head := make([]byte, 10)
	if _, err := io.ReadFull(in, head); err != nil {
		return text
	}
	switch {
	case head[0] == 0x1f && head[1] == 0x8b:
		return fmt.Sprintf("gzip, %s, flags %d, time %d, level byte %d, system %d", text, head[3], binary.LittleEndian.Uint32(head[4:]), head[8], head[9])
	case binary.LittleEndian.Uint32(head) == 0xfd2fb528:
		return "zstd, " + text
	}
	return "none, " + text
}
