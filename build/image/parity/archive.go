package parity

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/archmage-go/archmage/build/run"
	"github.com/klauspost/compress/zstd"
)

// tarTypes maps the kinds of entries to those of tar. A socket has none.
var tarTypes = map[string]byte{
	"dir": tar.TypeDir, "file": tar.TypeReg, "sym": tar.TypeSymlink, "hard": tar.TypeLink,
	"fifo": tar.TypeFifo, "chr": tar.TypeChar, "blk": tar.TypeBlock,
}

// tarOf writes entry lines as a tar archive, in order and with the names as
// written. A line `format gnu|ustar|pax` sets the header format of what follows,
// `global KEY=VALUE` writes a global PAX header, `raw "…"` writes bytes as they
// are, after the end of the archive so far.
func tarOf(lines []string) ([]byte, error) {
	var buf bytes.Buffer
	w, format := tar.NewWriter(&buf), tar.FormatUnknown
	for _, line := range lines {
		words, err := splitWords(line)
		if err != nil {
			return nil, err
		}
		switch words[0] {
		case "format":
			format = map[string]tar.Format{"gnu": tar.FormatGNU, "ustar": tar.FormatUSTAR, "pax": tar.FormatPAX}[words[1]]
			continue
		case "global":
			key, value, _ := strings.Cut(words[1], "=")
			err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{key: value}})
		case "raw":
			if err = w.Close(); err == nil {
				buf.WriteString(words[1])
				w = tar.NewWriter(&buf)
			}
		default:
			err = writeEntry(w, line, format)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %q: %w", line, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func writeEntry(w *tar.Writer, line string, format tar.Format) error {
	e, err := parseEntry(line)
	if err != nil {
		return err
	}
	h := &tar.Header{
		Typeflag: tarTypes[e.Kind], Name: e.Path, Linkname: e.To, Mode: e.Mode, Uid: e.UID, Gid: e.GID,
		ModTime: e.Time, Devmajor: e.Major, Devminor: e.Minor, Format: format,
	}
	if e.Kind == "dir" && !strings.HasSuffix(h.Name, "/") {
		h.Name += "/"
	}
	if e.Kind == "file" {
		h.Size = int64(len(e.Data))
	}
	for _, x := range e.Xattrs {
		if h.PAXRecords == nil {
			h.PAXRecords = map[string]string{}
		}
		h.PAXRecords["SCHILY.xattr."+x[0]] = x[1]
	}
	if err := w.WriteHeader(h); err != nil || e.Kind != "file" {
		return err
	}
	_, err = w.Write(e.Data)
	return err
}

// compress packs data as the name says: gzip, zstd, or by the suffix of a file
// name; anything else stays as it is.
func compress(data []byte, name string) ([]byte, error) {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch strings.TrimPrefix(path.Ext("."+name), ".") {
	case "gzip", "gz", "tgz":
		w = gzip.NewWriter(&buf)
	case "zstd", "zst":
		z, err := zstd.NewWriter(&buf)
		if err != nil {
			return nil, err
		}
		w = z
	default:
		return data, nil
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return buf.Bytes(), err
}

// pipe sends data through a shell command: for formats that Go cannot write.
func pipe(ctx context.Context, data []byte, command string) ([]byte, error) {
	return run.Output(ctx, run.OS{}, run.Cmd{Name: "sh", Args: []string{"-c", command}, Stdin: bytes.NewReader(data)})
}

// archiveOf makes the archive called name from entry lines. A command, where
// there is one, does the compression.
func archiveOf(ctx context.Context, name, lines, command string) ([]byte, error) {
	data, err := tarOf(specLines(lines))
	if err != nil {
		return nil, err
	}
	if command != "" {
		return pipe(ctx, data, command)
	}
	return compress(data, name)
}
