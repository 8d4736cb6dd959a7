package parity

// Everything that two builds of one Dockerfile may differ in is here, with the
// reason. What is not named here must be equal.

// Rules says what a comparison has to know.
type Rules struct {
	Bases map[string]bool // diff IDs that bases brought
}

// config changes a decoded image config in place.
func (r Rules) config(c map[string]any) {
	// BuildKit writes the time of the build, a reproducible builder must not. That
	// there is one is compared.
	// An image without layers has the time when it was built for one platform, and
	// null when it was built for several: there it is not compared.
	rootfs, _ := c["rootfs"].(map[string]any)
	ids, _ := rootfs["diff_ids"].([]any)
	blank := func(m map[string]any) {
		if s, ok := m["created"].(string); ok && s != "" {
			m["created"] = "a time"
		}
		if len(ids) == 0 {
			delete(m, "created")
		}
	}
	blank(c)

	history, _ := c["history"].([]any)
	for _, line := range history {
		h, ok := line.(map[string]any)
		if !ok {
			continue
		}
		blank(h)
		// Where a base has fewer history lines than layers, BuildKit's exporter
		// invents some. Their text depends on what its cache saw earlier: another
		// image's name, or another build's platform. That there is a line is compared.
		if h["comment"] == "buildkit.exporter.image.v0" {
			delete(h, "created_by")
		}
	}

	// The bytes of an added layer hold modification times and entries of unchanged
	// parent directories, which differ by snapshotter. Its content is compared by
	// applying it. Layers of bases are copied, so their IDs stay.
	for i, id := range ids {
		if s, ok := id.(string); ok && !r.Bases[s] {
			ids[i] = "added"
		}
	}
	// BuildKit writes null for no layers and for no history, where the specification
	// has empty lists.
	if rootfs != nil && len(ids) == 0 {
		rootfs["diff_ids"] = []any{}
	}
	if len(history) == 0 {
		c["history"] = []any{}
	}
}

// modTime is the modification time that counts for a node, in seconds.
func (r Rules) modTime(n *Node) int64 {
	switch {
	case n.Type == "dir":
		// BuildKit gives directories that it makes, and those that get new
		// entries, the time of the build.
		return 0
	case !n.ModTime.Before(firstContextTime):
		// Later than anything in bases and archives: of the context, or made by this
		// build. Files of a context keep their times in BuildKit; a checkout's times
		// are those of the checkout, so a reproducible builder drops them. What BuildKit
		// makes itself, as from a heredoc, is of now. Concurrent builds of equal
		// content share their work, so the time may also be that of another case.
		return 0
	case n.ModTime.Unix() < 0:
		// Layers hold no times before the epoch.
		return 0
	}
	// Fractions of a second survive in some layers and not in others.
	return n.ModTime.Unix()
}
