package rootfs

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// manyHeaders is a tar stream without end, of the headers that make gives. It
// holds one of them, and tells peak how much memory is in use meanwhile.
type manyHeaders struct {
	make func(i int) tar.Header
	i    int
	buf  bytes.Buffer
	peak uint64
}

func (m *manyHeaders) Read(p []byte) (int, error) {
	for m.buf.Len() == 0 {
		h := m.make(m.i)
		if err := tar.NewWriter(&m.buf).WriteHeader(&h); err != nil {
			return 0, err
		}
		if m.i++; m.i%1024 == 0 {
			m.measure()
		}
	}
	return m.buf.Read(p)
}

// measure counts what is in use: when garbage goes is the runtime's business.
func (m *manyHeaders) measure() {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.peak = max(m.peak, stats.HeapAlloc)
}

// A layer without end ends with an error while it takes as much memory as its
// bounds allow: here a sixty-fourth of what a real one may.
func TestMemoryOfALayerIsBounded(t *testing.T) {
	const bound = 6 << 20 // bytes; with garbage, twice as many
	lim := layerLimits{entries: maxEntries / 64, text: maxText / 64}
	deep := strings.Repeat("a/", 1900)
	for name, header := range map[string]func(i int) tar.Header{
		"files":     func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf("f%d", i), Typeflag: tar.TypeReg} },
		"dirs":      func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf("d%d/", i), Typeflag: tar.TypeDir} },
		"whiteouts": func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf(".wh.%d", i), Typeflag: tar.TypeReg} },
		"opaque": func(i int) tar.Header {
			return tar.Header{Name: fmt.Sprintf("%d/.wh..wh..opq", i), Typeflag: tar.TypeReg}
		},
		"implied": func(i int) tar.Header {
			return tar.Header{Name: fmt.Sprintf("%d/x/y/z/u/v/w", i), Typeflag: tar.TypeReg}
		},
		"long names": func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf("%0128d", i), Typeflag: tar.TypeReg} },
		"links": func(i int) tar.Header {
			return tar.Header{Name: fmt.Sprint(i), Linkname: strings.Repeat("x", 4000), Typeflag: tar.TypeSymlink}
		},
		"deep":      func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf("%d/%sf", i, deep), Typeflag: tar.TypeReg} },
		"deep once": func(i int) tar.Header { return tar.Header{Name: fmt.Sprintf("%s%d", deep, i), Typeflag: tar.TypeReg} },
		"one name":  func(int) tar.Header { return tar.Header{Name: "f", Typeflag: tar.TypeReg} },
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			in := &manyHeaders{make: header}
			_, err := readEntries(in, nil, lim)
			in.measure()
			if err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("error %v", err)
			}
			used := in.peak - min(in.peak, before.HeapAlloc)
			t.Logf("%d KB", used>>10)
			if used > bound {
				t.Errorf("%d MB in use at the peak, more than %d", used>>20, bound>>20)
			}
		})
	}
}

// What headers claim is neither believed nor made room for.
func TestClaimsOfALayerAreNotBelieved(t *testing.T) {
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Size: math.MaxInt64, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	out.WriteString(strings.Repeat("x", 4096))
	if _, err := ReadLayer(&out, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a size of exabytes: %v", err)
	}
	sparse := map[string]string{
		"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": "f", "GNU.sparse.size": fmt.Sprint(int64(math.MaxInt64)),
		"GNU.sparse.numblocks": "999999999999", "GNU.sparse.map": "0,1",
	}
	if _, err := ReadLayer(bytes.NewReader(rawPAX(t, sparse)), nil); err == nil {
		t.Error("a sparse file of a billion blocks: no error")
	}
}

// rawPAX is an empty file below an extended header with these records, which a
// tar.Writer would refuse to write.
func rawPAX(t *testing.T, records map[string]string) []byte {
	t.Helper()
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(records)) {
		body := fmt.Sprintf(" %s=%s\n", k, records[k])
		fmt.Fprintf(&text, "%d%s", len(body)+2, body) // all are of 10 to 99 bytes
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	header := &tar.Header{Name: "PaxHeaders.0/f", Typeflag: tar.TypeReg, Size: int64(text.Len())}
	err := w.WriteHeader(header)
	if err == nil {
		_, err = io.WriteString(w, text.String())
	}
	if err := errors.Join(err, w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg}), w.Close()); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	data[156] = tar.TypeXHeader
	resum(data[:512])
	return data
}

// A negative size in base 256 is no size.
func TestNegativeNumbersOfALayerAreRefused(t *testing.T) {
	for name, field := range map[string][2]int{"size": {124, 12}, "uid": {108, 8}, "gid": {116, 8}, "devmajor": {329, 8}, "devminor": {337, 8}} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeChar, Format: tar.FormatGNU}), w.Close()); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()
		for i := range field[1] {
			data[field[0]+i] = 0xff // -1
		}
		resum(data[:512])
		if entries, err := ReadLayer(bytes.NewReader(data), nil); err == nil {
			t.Errorf("%s -1: read as %d entries", name, len(entries))
		}
	}
}
