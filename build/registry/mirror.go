package registry

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// mirrored is where the repository named origin is read from.
func (c *Client) mirrored(origin string) string {
	best, source := 0, origin
	for _, m := range c.mirrors {
		rest, ok := strings.CutPrefix(origin, m.Prefix)
		if ok && len(m.Prefix) > best && (rest == "" || rest[0] == '/') {
			best, source = len(m.Prefix), m.To+rest
		}
	}
	return source
}

// tidy takes slashes off the ends, and gives Docker Hub the name that
// references are normalised to.
func tidy(mirrors []Mirror) []Mirror {
	list := make([]Mirror, len(mirrors))
	for i, m := range mirrors {
		prefix := strings.TrimSuffix(m.Prefix, "/")
		if rest, ok := strings.CutPrefix(prefix, name.DefaultRegistry); ok {
			prefix = "docker.io" + rest
		}
		list[i] = Mirror{prefix, strings.TrimSuffix(m.To, "/")}
	}
	return list
}
