package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/rootfs"
)

// fact is what one file of a layer says, whatever images the layer is in.
type fact struct {
	Off     int64            `json:"off"` // place in the uncompressed layer
	SHA256  string           `json:"sha256,omitempty"`
	Format  Format           `json:"format,omitempty"`
	Go      *debug.BuildInfo `json:"go,omitempty"`
	Text    []byte           `json:"text,omitempty"`
	Problem string           `json:"problem,omitempty"`
}

// factsKey is under what facts of a layer are remembered; its number changes
// with what they say.
func factsKey(digest string) string { return "contents 1 " + digest }

// facts describes the programs and the lists of packages in a layer. Those of a
// base's layers are remembered.
func (l *layer) facts(store cache.Store) (map[*content]fact, error) {
	if known, ok := l.known(store); ok {
		return known, nil
	}
	if _, err := l.load(); err != nil {
		return nil, err
	}
	facts := map[*content]fact{}
	var list []fact
	for _, f := range l.files {
		if _, done := facts[f.content]; done || !lists(f.path) && !isProgram(f.head()) {
			continue
		}
		one, err := f.fact()
		if err != nil {
			return nil, err
		}
		facts[f.content] = one
		if list = append(list, one); len(list) > mostFiles {
			return facts, nil // the image has too many as well, and says so
		}
	}
	if data, err := json.Marshal(list); err == nil && l.base {
		store.Put(factsKey(l.digest), data)
	}
	return facts, nil
}

// known are the facts of a base's layer that are remembered.
func (l *layer) known(store cache.Store) (map[*content]fact, bool) {
	data, ok := store.Get(factsKey(l.digest))
	var list []fact
	if !ok || !l.base || json.Unmarshal(data, &list) != nil {
		return nil, false
	}
	places := map[int64]fact{}
	for _, f := range list {
		places[f.Off] = f
	}
	facts := map[*content]fact{}
	for _, f := range l.files {
		if one, ok := places[f.off]; ok {
			facts[f.content] = one
		}
	}
	return facts, true
}

// isProgram reports whether a file that begins so is a program or a library.
func isProgram(head string) bool { return executable(head) && head[0] != '#' }

// layerFile is a file of a layer with its name there.
type layerFile struct {
	path string
	*content
}

// remember notes the files of a layer, for its facts.
func (l *layer) remember(entries []rootfs.Entry) {
	for _, e := range entries {
		if e.Node == nil {
			continue
		}
		if c, ok := e.Node.Data.(*content); ok {
			l.files = append(l.files, layerFile{e.Path, c})
		}
	}
}

// fact reads the file. The error is one of reading what was kept.
func (f layerFile) fact() (fact, error) {
	defer f.layer.closeFrom(len(f.layer.opened))
	one := fact{Off: f.off}
	r, err := f.section()
	if errors.Is(err, errNotKept) {
		one.Problem = err.Error()
		if isProgram(f.head()) {
			one.Format = Unknown
		}
		return one, nil
	}
	if err != nil {
		return one, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return one, err
	}
	one.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if isProgram(f.head()) {
		p := Inspect(r)
		if one.Format, one.Go = p.Format, p.Go; one.Go != nil {
			one.Go.Settings = nil
		}
	}
	if lists(f.path) {
		_, _ = r.Seek(0, io.SeekStart) // of what is in a file: it cannot fail
		one.Text, one.Problem = text(r)
	}
	return one, nil
}
