package image

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Three facts are remembered of a new layer. By its headers, that one like it
// was made. By its headers and the names of its files (path, inode and times),
// its diff ID, so that what did not change is not read. By its diff ID and the
// method of compression, its digest and size, so that what is the same is not
// compressed.
//
// The diff ID stands for headers, contents and epoch together, and has to be
// made anyway: a digest of each file beside it would hash every byte a second
// time, in the runs that have most to do.
//
// The compressed bytes are not kept. The registry or IMAGE_OUT have them, where
// they were written; where these are empty, making them again costs no more than
// the first time, while keeping all would fill disks.

func filesKey(id identity) string   { return "layer files " + id.files }
func headersKey(id identity) string { return "layer headers " + id.headers }

func (b *Blobs) packedKey(f Format, diffID string) string {
	return "layer packed " + f.method(b.info) + " " + diffID
}

// diffID is that of a layer whose files have not changed.
func (b *Blobs) diffID(id identity) (string, bool) {
	value, ok := b.Facts.Get(filesKey(id))
	_, err := v1.NewHash(string(value))
	return string(value), ok && err == nil
}

// seen reports whether a layer with the same headers was compressed.
func (b *Blobs) seen(id identity) bool {
	_, ok := b.Facts.Get(headersKey(id))
	return ok
}

// recall is how a layer was compressed.
func (b *Blobs) recall(f Format, diffID string) (d description, ok bool) {
	if diffID == "" {
		return d, false
	}
	value, ok := b.Facts.Get(b.packedKey(f, diffID))
	if !ok {
		return d, false
	}
	var digest string
	if n, err := fmt.Sscanf(string(value), "%s %d\n", &digest, &d.size); n != 2 || err != nil || d.size <= 0 {
		return d, false
	}
	var err error
	if d.digest, err = v1.NewHash(digest); err == nil {
		d.diffID, err = v1.NewHash(diffID)
	}
	return d, err == nil
}

// remember keeps what p was compressed to.
func (p *packed) remember(d description) {
	if p.id.files == "" {
		return // nobody would ask: it is made in every run
	}
	p.rememberFiles(d.diffID.String())
	facts := p.blobs.Facts
	facts.Put(p.blobs.packedKey(p.format, d.diffID.String()), fmt.Appendf(nil, "%s %d\n", d.digest, d.size))
	facts.Put(headersKey(p.id), nil)
}

// rememberFiles keeps the diff ID of p's files, if they have not changed since
// before they were read, and rested by then.
func (p *packed) rememberFiles(diffID string) {
	if now, err := p.identify(); err == nil && now.files == p.id.files && p.id.settled(p.blobs.settling) {
		p.blobs.Facts.Put(filesKey(p.id), []byte(diffID))
	}
}

// forget drops a diff ID that was wrong.
func (b *Blobs) forget(id identity) { b.Facts.Put(filesKey(id), nil) }
