package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// capability is the PAX record of the one extended attribute in layers.
const capability = "SCHILY.xattr.security.capability"

// WriteLayer writes entries as the uncompressed tar of an OCI layer. The same
// entries give the same bytes everywhere: sorted, no user names, times in whole
// seconds as containerd writes them, PAX headers only for what ustar cannot
// hold. A node without a time gets epoch, and 1970 where epoch is zero; times
// before 1970 become 1970. Of the names of one *Node the first has the content,
// the others are hard links to it. Sockets are left out.
//
// A content that is shorter or longer than its node says is an error. Contents
// are streamed: memory does not depend on sizes. No entries give the 1024 zero
// bytes of the empty layer that BuildKit keeps for an operation that changed
// nothing.
func WriteLayer(w io.Writer, entries []Entry, epoch time.Time) error {
	archive := tar.NewWriter(w)
	buf := make([]byte, 256<<10)
	l := newLayerWriter(epoch)
	l.put = archive.WriteHeader
	l.fill = func(n *Node) error { return writeContent(archive, n, buf) }
	if err := l.all(entries); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write layer: %w", err)
	}
	return nil
}

// layerWriter turns entries into headers, each followed by what its file holds.
type layerWriter struct {
	put   func(*tar.Header) error
	fill  func(*Node) error // of a regular file
	epoch time.Time
	first map[*Node]string // name under which a file was written
}

func newLayerWriter(epoch time.Time) *layerWriter {
	return &layerWriter{epoch: wholeSecond(epoch), first: map[*Node]string{}}
}

func (l *layerWriter) all(entries []Entry) error {
	for _, x := range sortEntries(entries) {
		if err := l.write(x); err != nil {
			return fmt.Errorf("write %s: %w", x.Path, err)
		}
	}
	return nil
}

func (l *layerWriter) write(x Entry) error {
	p := clean(x.Path)
	if x.Node != nil && p != "/" {
		if err := l.node(p, x.Node); err != nil {
			return err
		}
	}
	switch {
	case x.Opaque:
		return l.mark(join(p, opaque))
	case x.Node == nil && p == "/":
		return errors.New("whiteout of the root")
	case x.Node == nil:
		return l.mark(join(path.Dir(p), whiteout+path.Base(p)))
	}
	return nil
}

// mark writes an empty file that says what is gone.
func (l *layerWriter) mark(p string) error {
	return l.put(&tar.Header{Typeflag: tar.TypeReg, Name: p[1:], ModTime: time.Unix(0, 0)})
}

func (l *layerWriter) node(p string, n *Node) error {
	h, err := l.header(p, n)
	if h == nil || err != nil {
		return err
	}
	if err := l.put(h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	return l.fill(n)
}

// header is nil for what a layer cannot hold.
func (l *layerWriter) header(p string, n *Node) (*tar.Header, error) {
	h := &tar.Header{Name: p[1:], Mode: tarMode(n.Mode), Uid: n.UID, Gid: n.GID, ModTime: l.time(n)}
	switch n.Mode.Type() {
	case 0:
		h.Typeflag, h.Size = tar.TypeReg, n.Size
	case fs.ModeDir:
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
	case fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, n.Link
	case fs.ModeNamedPipe:
		h.Typeflag = tar.TypeFifo
	case fs.ModeDevice:
		h.Typeflag, h.Devmajor, h.Devminor = tar.TypeBlock, n.Major, n.Minor
	case fs.ModeDevice | fs.ModeCharDevice:
		h.Typeflag, h.Devmajor, h.Devminor = tar.TypeChar, n.Major, n.Minor
	case fs.ModeSocket:
		return nil, nil
	default:
		return nil, fmt.Errorf("no layer holds files of mode %s", n.Mode)
	}
	if len(n.Cap) > 0 {
		h.PAXRecords = map[string]string{capability: string(n.Cap)}
	}
	if !n.IsDir() {
		l.link(h, n)
	}
	return h, nil
}

// link makes h a hard link where n has been written under another name.
func (l *layerWriter) link(h *tar.Header, n *Node) {
	if name, ok := l.first[n]; ok {
		h.Typeflag, h.Linkname, h.Size, h.Devmajor, h.Devminor = tar.TypeLink, name, 0, 0, 0
		return
	}
	l.first[n] = h.Name
}

func writeContent(w io.Writer, n *Node, buf []byte) (err error) {
	r, err := n.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	written, err := io.CopyBuffer(w, io.LimitReader(r, n.Size), buf)
	if err != nil {
		return err
	}
	if written < n.Size {
		return fmt.Errorf("content ends after %d of %d bytes", written, n.Size)
	}
	// What comes after the last byte must be the end, not an error: a reader
	// that checks a digest says so there.
	if extra, err := io.ReadFull(r, buf[:1]); extra > 0 {
		return fmt.Errorf("content is longer than %d bytes", n.Size)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (l *layerWriter) time(n *Node) time.Time {
	if n.ModTime.IsZero() {
		return l.epoch
	}
	return wholeSecond(n.ModTime)
}

func wholeSecond(t time.Time) time.Time { return time.Unix(max(t.Unix(), 0), 0) }

// tarMode is the permissions and special bits as stat(2) has them.
func tarMode(m fs.FileMode) int64 {
	bits := int64(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}
