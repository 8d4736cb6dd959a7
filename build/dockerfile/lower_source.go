package dockerfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/solver/pb"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// source converts what comes from outside: an image, the context, a remote.
func (l *lowering) source(in *pb.Op, s *pb.SourceOp, op *Op) (err error) {
	scheme, rest, _ := strings.Cut(s.Identifier, "://")
	switch scheme {
	case "docker-image":
		op.Kind = KindBase
		op.Base, err = l.base(rest, in.Platform, s.Attrs)
	case "local":
		op.Kind = KindContext
		op.Ranges = nil
		op.Context, err = l.context(rest, s.Attrs)
	case "http", "https":
		op.Kind = KindHTTP
		op.HTTP, err = remoteFile(s)
	case "git":
		op.Kind = KindGit
		op.URL = remoteGit(rest, s.Attrs)
	default:
		err = fmt.Errorf("unexpected source %s", s.Identifier)
	}
	return err
}

func (l *lowering) base(id string, p *pb.Platform, attrs map[string]string) (*Base, error) {
	if err := known(attrs, pb.AttrImageResolveMode); err != nil {
		return nil, err
	}
	// The front end leaves one kind unresolved, for the daemon to do: a COPY
	// --from=image that is reachable only through a trigger.
	found, err := l.e.bases.resolve(id, ocispecs.Platform{
		OS: p.GetOS(), Architecture: p.GetArchitecture(), Variant: p.GetVariant(),
	})
	if err != nil {
		return nil, err
	}
	return &found.Base, nil
}

func (l *lowering) context(name string, attrs map[string]string) (*Context, error) {
	// The first three say which session and transfer, not which files.
	err := known(attrs, pb.AttrLocalUniqueID, pb.AttrSharedKeyHint, pb.AttrLocalDiffer,
		pb.AttrFollowPaths, pb.AttrExcludePatterns)
	if err != nil {
		return nil, err
	}
	c := &Context{Name: name}
	if err := list(attrs[pb.AttrFollowPaths], &c.Follow); err != nil {
		return nil, err
	}
	if err := list(attrs[pb.AttrExcludePatterns], &c.Exclude); err != nil {
		return nil, err
	}
	c.Exclude = append(c.Exclude, l.e.in.omit()...)
	return c, nil
}

func list(text string, to *[]string) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}

func remoteFile(s *pb.SourceOp) (*HTTP, error) {
	if err := known(s.Attrs, pb.AttrHTTPChecksum, pb.AttrHTTPFilename, pb.AttrHTTPPerm); err != nil {
		return nil, err
	}
	h := &HTTP{URL: s.Identifier, Checksum: s.Attrs[pb.AttrHTTPChecksum], Filename: s.Attrs[pb.AttrHTTPFilename], Mode: 0o600}
	if text := s.Attrs[pb.AttrHTTPPerm]; text != "" {
		perm, err := strconv.ParseUint(text, 8, 32)
		if err != nil {
			return nil, err
		}
		h.Mode = uint32(perm)
	}
	return h, nil
}

func remoteGit(id string, attrs map[string]string) string {
	url := id
	if full := attrs[pb.AttrFullRemoteURL]; full != "" {
		url = full
		if _, fragment, ok := strings.Cut(id, "#"); ok {
			url += "#" + fragment
		}
	}
	return url
}

// known refuses attributes that might change what a source holds.
func known(attrs map[string]string, names ...string) error {
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if !slices.Contains(names, k) {
			return fmt.Errorf("unexpected attribute %s", k)
		}
	}
	return nil
}
