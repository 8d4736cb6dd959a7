// Package audit compares a binary with what it claims to be: by what is in the
// file, never by its name. What cannot be decided is reported as not checked,
// never taken for fine.
package audit

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// BinaryOptions says what is allowed of a binary.
type BinaryOptions struct {
	CGO bool // it may need a program interpreter: whether the image has that is another question
}

// BinaryFile is [Binary] of the file at path. The error is one of reading it.
func BinaryFile(path string, want platform.Platform, o BinaryOptions) ([]Finding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("audit %s: not a regular file", path)
	}
	return Binary(f, want, o), nil
}

// Binary reports how the program in r differs from one that runs on want, in a
// fixed order. No findings: format, class, byte order and machine are want's,
// and the Go build info agrees, the variant included.
func Binary(r io.ReaderAt, want platform.Platform, o BinaryOptions) []Finding {
	return Inspect(r).Judge(want, o)
}

// Judge is [Binary] of a program that has been read.
func (p Program) Judge(want platform.Platform, o BinaryOptions) []Finding {
	j := judge{want: want}
	switch {
	case p.Format == Empty:
		j.wrong("empty file")
	case p.Format == Archive:
		j.wrong("not a program: package is not main") // go build -o of a library writes one and exits 0
	case p.Format == Script:
		j.unsure("a script: what interprets it decides where it runs")
	case p.Format == Unknown && p.Go == nil:
		j.unsure("no program format that is known here")
	case p.Format == Unknown: // AIX: the build info alone
		j.goInfo(p)
	case p.Format != format(want.OS):
		j.wrong("%s file, want %s", p.describe(), format(want.OS))
	case p.Format == ELF:
		j.elf(p, o)
		j.goInfo(p)
	default:
		j.arches(p)
		j.goInfo(p)
	}
	return j.found
}

// format is what programs of an operating system are. Those that the toolchain
// builds for and that are not listed have ELF, but AIX, which has XCOFF.
func format(os string) Format {
	switch os {
	case "darwin", "ios":
		return MachO
	case "windows":
		return PE
	case "aix":
		return Unknown
	}
	return ELF
}

func (p Program) describe() string {
	text := string(p.Format)
	if len(p.Arches) > 0 {
		text += " " + strings.Join(p.Arches, "+")
	}
	if p.Format == ELF {
		text += " " + machine(p.ELF)
	}
	return text
}

// judge collects findings against one platform.
type judge struct {
	want  platform.Platform
	found []Finding
}

func (j *judge) wrong(form string, args ...any) {
	j.found = append(j.found, Finding{Platform: j.want, Message: fmt.Sprintf(form, args...)})
}

func (j *judge) unsure(form string, args ...any) {
	j.found = append(j.found, Finding{Platform: j.want, Message: fmt.Sprintf(form, args...), NotChecked: true})
}

func (j *judge) arches(p Program) {
	if len(p.Arches) > 0 && !slices.Contains(p.Arches, j.want.Arch) {
		j.wrong("%s file, want %s", p.describe(), j.want.Arch)
	}
}

// elf compares class, byte order and machine: one of them alone does not tell
// mips from mips64le, or ppc64 from ppc64le.
func (j *judge) elf(p Program, o BinaryOptions) {
	if want := j.want.ELF(); p.ELF != want {
		j.wrong("ELF is %s, want %s", machine(p.ELF), machine(want))
	}
	if !p.Program {
		j.wrong("not a program: an object file or a library")
	}
	if j.want.OS != "linux" {
		return // elsewhere libc and its loader are the only way into the kernel, or the system's own
	}
	if foreign(p.ABI) {
		j.wrong("ELF is for %s, want linux", strings.ToLower(strings.TrimPrefix(p.ABI.String(), "ELFOSABI_")))
	}
	if p.Interp != "" && !o.CGO {
		j.wrong("needs the program interpreter %s%s", p.Interp, because(p))
	}
}

// foreign says that Linux programs never have this mark. Linux's own toolchains
// leave it zero, or set ELFOSABI_LINUX.
func foreign(abi elf.OSABI) bool {
	switch abi {
	case elf.ELFOSABI_NETBSD, elf.ELFOSABI_SOLARIS, elf.ELFOSABI_AIX, elf.ELFOSABI_FREEBSD, elf.ELFOSABI_OPENBSD:
		return true
	}
	return false
}

func because(p Program) string {
	if mode, _ := p.setting("-buildmode"); mode == "pie" {
		return ": built with -buildmode=pie"
	}
	if cgo, _ := p.setting("CGO_ENABLED"); cgo == "1" {
		return ": built with CGO_ENABLED=1"
	}
	return ""
}

// machine is a triple in words, e.g. "64-bit little-endian x86_64".
func machine(e platform.ELF) string {
	class := map[elf.Class]string{elf.ELFCLASS32: "32-bit", elf.ELFCLASS64: "64-bit"}[e.Class]
	data := map[elf.Data]string{elf.ELFDATA2LSB: "little-endian", elf.ELFDATA2MSB: "big-endian"}[e.Data]
	if class == "" || data == "" {
		return "damaged"
	}
	return class + " " + data + " " + strings.ToLower(strings.TrimPrefix(e.Machine.String(), "EM_"))
}
