package audit

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"runtime/debug"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Format is what kind of file a program is.
type Format string

// The formats that [Inspect] tells apart; all else is Unknown.
const (
	ELF     Format = "ELF"
	MachO   Format = "Mach-O"
	PE      Format = "PE"
	Archive Format = "ar archive"
	Script  Format = "script"
	Empty   Format = "empty file"
	Unknown Format = "unknown format"
)

// Program is what a file says of itself.
type Program struct {
	Format Format
	Arches []string // Mach-O, PE: GOARCH names; several in a universal file

	ELF     platform.ELF // the next fields are for ELF alone
	ABI     elf.OSABI
	Program bool     // can be started: neither object, core dump nor library
	Interp  string   // PT_INTERP; "" is static
	Needed  []string // DT_NEEDED, as written
	Search  []string // DT_RPATH and DT_RUNPATH: lists of directories, as written

	Go *debug.BuildInfo // nil: not Go, or nothing left of it
}

// maxInterp bounds an interpreter's path, as Linux does (PATH_MAX).
const maxInterp = 4096

// Inspect reads the headers of a program. It never fails: what it cannot read
// stays zero, and a file that is no program has a Format that says so.
func Inspect(r io.ReaderAt) Program {
	head := make([]byte, 8)
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	p := Program{Format: Unknown}
	switch {
	case n == 0:
		p.Format = Empty
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		p.readELF(r)
	case bytes.Equal(head, []byte("!<arch>\n")):
		p.Format = Archive
	case bytes.HasPrefix(head, []byte("#!")):
		p.Format = Script
	case bytes.HasPrefix(head, []byte("MZ")):
		p.readPE(r)
	default:
		p.readMachO(r)
	}
	if p.Format == ELF || p.Format == PE || p.Format == MachO || p.Format == Unknown {
		p.Go, _ = buildinfo.Read(r)
	}
	return p
}

// readELF takes the triple from the first 20 bytes, so that a file whose tables
// are damaged or missing (as packers leave them) still has an architecture.
func (p *Program) readELF(r io.ReaderAt) {
	p.Format = ELF
	head := make([]byte, 20)
	if n, _ := r.ReadAt(head, 0); n < len(head) {
		return
	}
	p.ELF = platform.ELF{Class: elf.Class(head[elf.EI_CLASS]), Data: elf.Data(head[elf.EI_DATA])}
	p.ELF.Machine = elf.Machine(p.ELF.ByteOrder().Uint16(head[18:]))
	p.ABI = elf.OSABI(head[elf.EI_OSABI])
	kind := elf.Type(p.ELF.ByteOrder().Uint16(head[16:]))
	f, err := elf.NewFile(r)
	if err != nil {
		p.Program = kind == elf.ET_EXEC || kind == elf.ET_DYN
		return
	}
	p.Program = kind == elf.ET_EXEC || kind == elf.ET_DYN && f.Entry != 0
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			path, _ := io.ReadAll(io.LimitReader(segment.Open(), maxInterp))
			path, _, _ = bytes.Cut(path, []byte{0})
			p.Interp = string(path)
		}
	}
	p.Needed, _ = f.ImportedLibraries()
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, _ := f.DynString(tag)
		p.Search = append(p.Search, lists...)
	}
}

func (p *Program) readPE(r io.ReaderAt) {
	f, err := pe.NewFile(r)
	if err != nil {
		return
	}
	p.Format = PE
	switch f.Machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		p.Arches = []string{"amd64"}
	case pe.IMAGE_FILE_MACHINE_ARM64:
		p.Arches = []string{"arm64"}
	case pe.IMAGE_FILE_MACHINE_I386:
		p.Arches = []string{"386"}
	}
}

func (p *Program) readMachO(r io.ReaderAt) {
	if f, err := macho.NewFile(r); err == nil {
		p.Format, p.Arches = MachO, machoArch(f.Cpu)
		return
	}
	fat, err := macho.NewFatFile(r)
	if err != nil {
		return
	}
	p.Format = MachO
	for _, part := range fat.Arches {
		p.Arches = append(p.Arches, machoArch(part.Cpu)...)
	}
}

func machoArch(cpu macho.Cpu) []string {
	switch cpu {
	case macho.CpuAmd64:
		return []string{"amd64"}
	case macho.CpuArm64:
		return []string{"arm64"}
	}
	return []string{strings.ToLower(strings.TrimPrefix(cpu.String(), "Cpu"))}
}

// setting is a value of the build settings that the go command recorded.
func (p Program) setting(key string) (string, bool) {
	if p.Go != nil {
		for _, s := range p.Go.Settings {
			if s.Key == key {
				return s.Value, true
			}
		}
	}
	return "", false
}
