package registry

import "sync"

// recent holds manifests that were read, under their digests: what is found by
// a tag is mostly asked for by digest next. It takes no more than a run needs;
// when it is full, manifests are read again. The zero value is ready.
type recent struct {
	mu   sync.Mutex
	m    map[string]Manifest // by repository@digest
	size int                 // bytes
}

const maxRecent = 16 << 20 // bytes

func (c *recent) keep(repository string, m Manifest) {
	key := reference(repository, m.Digest.String())
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.m[key]; ok || c.size+len(m.Raw) > maxRecent {
		return
	}
	if c.m == nil {
		c.m = map[string]Manifest{}
	}
	c.m[key] = m
	c.size += len(m.Raw)
}

func (c *recent) get(repository, digest string) (Manifest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.m[reference(repository, digest)]
	return m, ok
}
