package audit

import (
	"debug/elf"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/rootfs"
)

// usual are the directories whose programs count where nobody knows which are
// the base's, beside those of PATH.
var usual = []string{"/", "/app", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}

// added judges every program that the image adds to its base. Where the base is
// not known, what lies in no usual place may be anybody's, and be meant.
func (l *look) added() {
	dirs := append(slices.Clone(usual), l.searchPath()...)
	_ = l.tree.Walk("/", func(p string, n *rootfs.Node) error { // fn returns no error, and / is there
		c, ok := n.Data.(*content)
		if !ok || l.judged[n] || !runnable(p, n) || !isELF(c.head()) {
			return nil
		}
		l.judged[n] = true
		l.programs++
		if l.split && c.layer.base {
			return nil
		}
		l.program(p, c, l.split || slices.Contains(dirs, path.Dir(p)))
		return nil
	})
}

// runnable leaves out ELF files that are data, such as what a test reads:
// neither executable nor, by its name, a library.
func runnable(p string, n *rootfs.Node) bool {
	base := path.Base(p)
	return n.Mode.Perm()&0o111 != 0 || strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// program judges an ELF file that is not the entrypoint. Without own it may be
// the base's, and part of something that this platform can run all the same.
func (l *look) program(p string, c *content, own bool) {
	kind, is := headerOf(c.head())
	switch {
	case kind != elf.ET_EXEC && kind != elf.ET_DYN: // an object file, such as a kernel module
		return
	case is.Machine == elf.EM_BPF || is != l.want.ELF() && !known(is):
		return // firmware, or what the kernel loads
	}
	r, err := c.section()
	if err != nil {
		l.unsure(p, "%v", err)
		return
	}
	program := Inspect(r)
	switch {
	case is != l.want.ELF() && !program.Program && !inLibraries(p) && own:
		l.unsure(p, "a library for %s, in an image for %s: whether anything loads it is not known", machine(is), machine(l.want.ELF()))
		return
	case is != l.want.ELF() && own:
		l.wrong(fixBinary, p, "ELF is %s, want %s", machine(is), machine(l.want.ELF()))
		return
	case is != l.want.ELF():
		l.unsure(p, "ELF is %s, not %s; it may be the base's, and meant", machine(is), machine(l.want.ELF()))
		return
	case !program.Program:
		return // a library: its header is all that can be compared
	}
	for _, f := range program.Judge(l.want, BinaryOptions{CGO: true}) {
		if !f.NotChecked || l.split {
			l.add(note{path: p, text: f.Message, notChecked: f.NotChecked, fix: fixOf(f)})
		}
	}
	if own {
		l.link(p, program, false)
	}
}

// inLibraries reports whether a file is where libraries of the whole system are.
// Elsewhere they come in bundles for several platforms, of which one is loaded.
func inLibraries(p string) bool {
	dir := path.Dir(p)
	if strings.Contains(path.Base(dir), "-linux-") {
		dir = path.Dir(dir)
	}
	return slices.Contains([]string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"}, dir)
}

func fixOf(f Finding) string {
	if f.NotChecked {
		return ""
	}
	return fixBinary
}

// userland looks at the programs that nearly every base has. A base whose
// config says one platform and whose files are another's passes as far as its
// config goes.
func (l *look) userland() {
	for _, p := range []string{"/bin/sh", "/bin/busybox"} {
		if is, ok := l.elfAt(p); ok && is != l.want.ELF() {
			l.wrong(fixBase, p, "ELF is %s, want %s", machine(is), machine(l.want.ELF()))
		}
	}
	var loaders []string
	for _, dir := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64"} {
		for _, name := range l.names(dir) {
			is, ok := l.elfAt(path.Join(dir, name))
			if !ok || !strings.HasPrefix(name, "ld-") {
				continue
			}
			if is == l.want.ELF() {
				return // a second one, of another architecture, is meant
			}
			loaders = append(loaders, path.Join(dir, name))
		}
	}
	for _, p := range loaders {
		is, _ := l.elfAt(p)
		l.wrong(fixBase, p, "the program interpreter is %s, and there is none for %s", machine(is), machine(l.want.ELF()))
	}
}

// names lists a directory, links followed.
func (l *look) names(dir string) []string {
	n, err := l.tree.Stat(dir)
	if err != nil {
		return nil
	}
	return n.Names()
}

// elfAt is the header of the file that p leads to; not ok where it is no ELF
// file or its layer was not read.
func (l *look) elfAt(p string) (platform.ELF, bool) {
	n, err := l.tree.Stat(p)
	if err != nil {
		return platform.ELF{}, false
	}
	return elfOf(n)
}

func elfOf(n *rootfs.Node) (platform.ELF, bool) {
	c, ok := n.Data.(*content)
	if !ok || !isELF(c.head()) {
		return platform.ELF{}, false
	}
	_, is := headerOf(c.head())
	return is, true
}

func isELF(head string) bool { return strings.HasPrefix(head, elf.ELFMAG) }

// headerOf reads the first bytes of an ELF file. What is cut short is zero.
func headerOf(head string) (elf.Type, platform.ELF) {
	if len(head) < headSize {
		return 0, platform.ELF{}
	}
	e := platform.ELF{Class: elf.Class(head[elf.EI_CLASS]), Data: elf.Data(head[elf.EI_DATA])}
	e.Machine = elf.Machine(e.ByteOrder().Uint16([]byte(head[18:20])))
	return elf.Type(e.ByteOrder().Uint16([]byte(head[16:18]))), e
}

// known reports whether an image can be for a machine. Others are those of
// firmware and of what is no Linux program.
func known(e platform.ELF) bool {
	return slices.ContainsFunc(platform.Images(), func(p platform.Platform) bool { return p.ELF() == e })
}

// first is the beginning of a file, n bytes at most.
func first(r io.Reader, n int64) string {
	data, _ := io.ReadAll(io.LimitReader(r, n))
	return string(data)
}
