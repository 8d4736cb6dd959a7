package image

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// compressors are the libraries whose version decides the bytes of a layer, as
// this module requires them. A program that imports it may have newer ones.
var compressors = [...]struct{ path, version string }{
	{"github.com/klauspost/compress", "v1.20.3"},
	{"github.com/klauspost/pgzip", "v1.3.0"},
}

// method names all that the compressed bytes depend on beside the plain ones.
func (f Format) method(info *debug.BuildInfo) string {
	text := fmt.Sprintf("gzip %d %d", gzipLevel, gzipBlock)
	if f.Zstd {
		text = fmt.Sprintf("zstd %d", zstdLevel)
	}
	for _, c := range compressors {
		text += " " + c.path + " " + versionIn(info, c.path, c.version)
	}
	return text
}

// versionIn is what a program was linked with; otherwise where its build info
// does not say, as in tests.
func versionIn(info *debug.BuildInfo, path, otherwise string) string {
	if info == nil {
		return otherwise
	}
	for _, m := range info.Deps {
		if m.Path != path {
			continue
		}
		text := []string{m.Version, m.Sum}
		if m.Replace != nil {
			text = append(text, m.Replace.Path, m.Replace.Version, m.Replace.Sum)
		}
		return strings.Join(text, " ")
	}
	return otherwise
}
