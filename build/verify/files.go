package verify

import (
	"debug/elf"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// files is the build context. What cannot be read is taken as absent.
type files struct {
	fsys     fs.FS
	programs map[string]string   // answers of program
	below    map[string][]string // answers of programsIn
}

func newFiles(s Subject) files {
	f := files{fsys: s.Root, programs: map[string]string{}, below: map[string][]string{}}
	if s.Context != "" && s.Context != "." && s.Root != nil {
		f.fsys, _ = fs.Sub(s.Root, path.Clean(s.Context))
	}
	return f
}

// exists is true for a link whatever it points to: BuildKit resolves links in
// the context as its root, which an fs.FS may not.
func (f files) exists(name string) bool {
	if f.fsys == nil {
		return false
	}
	_, err := fs.Lstat(f.fsys, name)
	return err == nil
}

func (f files) isDir(name string) bool {
	if f.fsys == nil {
		return false
	}
	info, err := fs.Stat(f.fsys, name)
	return err == nil && info.IsDir()
}

// match lists what a source names: a pattern's matches, or itself if it exists.
func (f files) match(source string) []string {
	if !wildcard(source) {
		if f.exists(source) {
			return []string{source}
		}
		return nil
	}
	if f.fsys == nil {
		return nil
	}
	list, _ := fs.Glob(f.fsys, source) // a broken pattern matches nothing
	return list
}

// walk calls fn for every file at or below name, but for those of git.
func (f files) walk(name string, fn func(file string)) {
	if f.fsys == nil {
		return
	}
	if !f.isDir(name) {
		fn(name)
		return
	}
	_ = fs.WalkDir(f.fsys, name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.IsDir():
			fn(p)
		}
		return nil
	})
}

// programsIn lists the ELF programs that a source names, or that lie below.
func (f files) programsIn(source string) []string {
	list, ok := f.below[source]
	if !ok {
		for _, m := range f.match(source) {
			f.walk(m, func(file string) {
				if f.program(file) != "" {
					list = append(list, file)
				}
			})
		}
		f.below[source] = list
	}
	return list
}

// program is the architecture of an ELF program or library that can be run
// where images run, or "": objects, code for microcontrollers and for the
// kernel's own machine (BPF) are data.
func (f files) program(name string) string {
	arch, ok := f.programs[name]
	if !ok {
		arch = f.read(name)
		f.programs[name] = arch
	}
	return arch
}

func (f files) read(name string) string {
	if f.fsys == nil {
		return ""
	}
	info, err := fs.Stat(f.fsys, name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := f.fsys.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 20) // e_ident, e_type, e_machine
	if _, err := io.ReadFull(file, head); err != nil || string(head[:4]) != elf.ELFMAG {
		return ""
	}
	is := platform.ELF{Class: elf.Class(head[elf.EI_CLASS]), Data: elf.Data(head[elf.EI_DATA])}
	order := is.ByteOrder()
	is.Machine = elf.Machine(order.Uint16(head[18:]))
	switch elf.Type(order.Uint16(head[16:])) {
	case elf.ET_EXEC, elf.ET_DYN:
		return archOf(is)
	}
	return ""
}

func archOf(is platform.ELF) string {
	for _, name := range platform.Names() {
		if p, ok := platform.Named(name); ok && p.Arch == name && p.ELF() == is {
			return name
		}
	}
	return ""
}

// wildcard reports whether a source is a pattern.
func wildcard(source string) bool { return strings.ContainsAny(source, `*?[\`) }
