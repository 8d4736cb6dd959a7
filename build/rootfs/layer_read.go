package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Bounds on a layer, which anybody may have written. Names and links have
// Linux's own bounds: nothing longer can be unpacked anywhere. With as many
// entries and as much text as there may be, reading takes some 600 MB of memory;
// the largest layers in public have a third of either.
const (
	maxEntries = 1 << 20   // listed or implied
	maxText    = 128 << 20 // bytes of all names, link targets and capabilities
	maxPath    = 4096
	maxName    = 255
	maxCap     = 1024
	maxID      = math.MaxUint32 - 1 // the last one is chown's "leave it"
)

// ReadLayer reads the headers of an uncompressed layer, to the end of r, so
// that a reader which checks a digest has seen all of it. A regular file with
// bytes gets the content that data makes of their place in r; where data is nil
// it is a *[Section], to be given to [Bind] later. Sparse files keep a Section
// that does not open.
//
// Entries come back as containerd would unpack them, each path once, sorted:
// the last header of a name wins, names are cleaned and cannot leave the root,
// a directory that the layer itself has made a link is followed, a hard link
// shares its target's *Node, on which its own header sets mode, owner, time and
// capability. Times before 1970 are 1970. Of the extended attributes only
// security.capability is kept.
//
// A hard link to what is not in this layer is an error, as it is in BuildKit,
// and so are damaged and oversized archives. Errors name the entry.
func ReadLayer(r io.Reader, data func(off, size int64) Content) ([]Entry, error) {
	if data == nil {
		data = func(off, size int64) Content { return &Section{off, size} }
	}
	return readEntries(r, data, layerLimits{maxEntries, maxText})
}

// layerLimits bound the memory that a layer takes.
type layerLimits struct{ entries, text int }

func readEntries(r io.Reader, data func(off, size int64) Content, lim layerLimits) ([]Entry, error) {
	in := &counter{r: r}
	l := &layerReader{edit: Tree{}.Edit(), data: data, limits: lim, gone: map[string]bool{}, opaque: map[string]bool{}}
	last := ""
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read layer after entry %q: %w", last, err)
		}
		if err := l.add(h, in.n); err != nil {
			return nil, fmt.Errorf("read layer entry %q: %w", h.Name, err)
		}
		last = h.Name
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, fmt.Errorf("read layer after entry %q: %w", last, err)
	}
	return l.entries(), nil
}

// counter knows how far an archive has been read: after a header, where the
// bytes of its file begin. It hides that r may seek.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (l *layerReader) bound(h *tar.Header) error {
	capLen := len(h.PAXRecords[capability])
	l.count++
	l.text += len(h.Name) + len(h.Linkname) + capLen
	switch {
	case l.count > l.limits.entries:
		return fmt.Errorf("more than %d entries", l.limits.entries)
	case l.text > l.limits.text:
		return fmt.Errorf("names of more than %d bytes in all", l.limits.text)
	case len(h.Name) > maxPath || len(h.Linkname) > maxPath:
		return fmt.Errorf("name longer than %d bytes", maxPath)
	case slices.ContainsFunc(strings.Split(h.Name, "/"), func(s string) bool { return len(s) > maxName }):
		return fmt.Errorf("part of the name longer than %d bytes", maxName)
	case capLen > maxCap:
		return fmt.Errorf("capability longer than %d bytes", maxCap)
	case h.Uid < 0 || h.Gid < 0 || int64(h.Uid) > maxID || int64(h.Gid) > maxID:
		return fmt.Errorf("owner %d:%d out of range", h.Uid, h.Gid)
	case h.Size < 0 || h.Devmajor < 0 || h.Devminor < 0:
		return errors.New("negative number")
	}
	return nil
}
