package platform

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// arch is one GOARCH: where the toolchain builds for it, how the toolchain is
// told its variant, and what its ELF files look like.
type arch struct {
	oses    []string
	goVar   string    // GOARM, GOAMD64, …; "" has no variants
	values  []variant // lowest first
	implied string    // the variant that a platform without one means
	zero    string    // a variant that is written as none
	ELF     ELF
}

// variant is one spelling of a variant and the value that goVar takes for it.
// Of two spellings of one value the first is the normal one.
type variant struct{ name, value string }

// ELF is what the header of every executable of an architecture says.
type ELF struct {
	Class   elf.Class
	Data    elf.Data
	Machine elf.Machine
}

func same(values ...string) []variant {
	list := make([]variant, len(values))
	for i, v := range values {
		list[i] = variant{v, v}
	}
	return list
}

// Images are linux; the other systems are those that release binaries may be
// compiled for.
var (
	linux   = []string{"linux"}
	desktop = []string{"linux", "darwin", "windows", "freebsd", "openbsd", "netbsd"}
)

// arches is checked against `go tool dist list` by a test. Variants are those
// of `go help environment`.
var arches = map[string]arch{
	"386": {
		oses: without(desktop, "darwin"), goVar: "GO386", values: same("softfloat", "sse2"), zero: "sse2",
		ELF: ELF{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_386},
	},
	"amd64": {
		oses: append(slices.Clone(desktop), "dragonfly", "illumos", "solaris"), goVar: "GOAMD64",
		values: same("v1", "v2", "v3", "v4"), zero: "v1",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_X86_64},
	},
	"arm": {
		oses: without(without(desktop, "darwin"), "windows"), goVar: "GOARM",
		values: []variant{{"v5", "5"}, {"v6", "6"}, {"v7", "7"}}, implied: "v7",
		ELF: ELF{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_ARM},
	},
	"arm64": {
		oses: desktop, goVar: "GOARM64", values: arm64Values(), zero: "v8",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_AARCH64},
	},
	"loong64": {oses: linux, ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_LOONGARCH}},
	"mips": {
		oses: linux, goVar: "GOMIPS", values: same("softfloat", "hardfloat"), zero: "hardfloat",
		ELF: ELF{elf.ELFCLASS32, elf.ELFDATA2MSB, elf.EM_MIPS},
	},
	"mipsle": {
		oses: linux, goVar: "GOMIPS", values: same("softfloat", "hardfloat"), zero: "hardfloat",
		ELF: ELF{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_MIPS},
	},
	"mips64": {
		oses: linux, goVar: "GOMIPS64", values: same("softfloat", "hardfloat"), zero: "hardfloat",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2MSB, elf.EM_MIPS},
	},
	"mips64le": {
		oses: linux, goVar: "GOMIPS64", values: same("softfloat", "hardfloat"), zero: "hardfloat",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_MIPS},
	},
	"ppc64": {
		oses: []string{"linux", "aix", "openbsd"}, goVar: "GOPPC64", values: same("power8", "power9", "power10"), zero: "power8",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2MSB, elf.EM_PPC64},
	},
	"ppc64le": {
		oses: linux, goVar: "GOPPC64", values: same("power8", "power9", "power10"), zero: "power8",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_PPC64},
	},
	"riscv64": {
		oses: []string{"linux", "openbsd"}, goVar: "GORISCV64", values: same("rva20u64", "rva22u64", "rva23u64"), zero: "rva20u64",
		ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_RISCV},
	},
	"s390x": {oses: linux, ELF: ELF{elf.ELFCLASS64, elf.ELFDATA2MSB, elf.EM_S390}},
}

// arm64Values are v8.0 to v8.9 and v9.0 to v9.5; v8 and v9 mean their .0.
func arm64Values() []variant {
	list := []variant{{"v8", "v8.0"}}
	for minor := range 10 {
		list = append(list, same(fmt.Sprintf("v8.%d", minor))...)
	}
	list = append(list, variant{"v9", "v9.0"})
	for minor := range 6 {
		list = append(list, same(fmt.Sprintf("v9.%d", minor))...)
	}
	return list
}

func without(list []string, out string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == out })
}

// aliases are spellings that containerd normalises too.
var aliases = map[string]string{"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64", "i386": "386"}

// meant maps spellings that name no architecture to what their author wanted.
var meant = map[string]string{
	"armv5": "arm/v5", "armv6": "arm/v6", "armv7": "arm/v7", "armhf": "arm/v7", "armel": "arm/v6", "armv7l": "arm/v7",
	"arm64v8": "arm64", "armv8": "arm64", "arm32v6": "arm/v6", "arm32v7": "arm/v7", "x86": "386", "i686": "386", "x64": "amd64", "ppc64el": "ppc64le",
	"amd64v2": "amd64/v2", "amd64v3": "amd64/v3", "amd64v4": "amd64/v4", "riscv": "riscv64", "loongarch64": "loong64",
}

// value is what goVar takes for a variant, and whether there is such a variant.
func (a arch) value(name string) (string, bool) {
	for _, v := range a.values {
		if v.name == name {
			return v.value, true
		}
	}
	return "", false
}

// variant normalises a written variant: "7" is v7, v9.0 is v9 where both name
// one value, and the zero one is "".
func (a arch) variant(text string) (string, bool) {
	value, ok := a.value(text)
	if !ok {
		value, ok = a.value("v" + text)
	}
	if zero, _ := a.value(a.zero); ok && value == zero {
		return "", true
	}
	for _, v := range a.values {
		if ok && v.value == value {
			return v.name, true
		}
	}
	return "", false
}

func (a arch) hint() string {
	if len(a.values) == 0 {
		return "this architecture has no variants"
	}
	names := make([]string, len(a.values))
	for i, v := range a.values {
		names[i] = v.name
	}
	return "known variants: " + strings.Join(names, ", ")
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func archNames(os string) []string {
	return slices.DeleteFunc(sorted(arches), func(name string) bool { return !slices.Contains(arches[name].oses, os) })
}

// GoVar is the variable that tells the go command this architecture's variant,
// with its value, e.g. GOARM and 7. Both are "" where there is none.
func (p Platform) GoVar() (name, value string) {
	a := arches[p.Arch]
	if a.goVar == "" {
		return "", ""
	}
	value, _ = a.value(cmp.Or(p.Variant, a.zero))
	return a.goVar, value
}

// GoEnv is the environment that makes the go command compile for p: GOOS,
// GOARCH and the variant's variable, which is always set so that the caller's
// own never leaks in.
func (p Platform) GoEnv() []string {
	env := []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch}
	if name, value := p.GoVar(); name != "" {
		env = append(env, name+"="+value)
	}
	return env
}

// ELF is what an executable for p has in its header.
func (p Platform) ELF() ELF { return arches[p.Arch].ELF }

// ByteOrder is the order of p's architecture.
func (e ELF) ByteOrder() binary.ByteOrder {
	if e.Data == elf.ELFDATA2MSB {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Names lists every spelling of an architecture that archmage knows, for rules
// that look for one in a path: amd64, x86_64, aarch64, armv7 and so on, sorted.
func Names() []string {
	all := append(sorted(arches), sorted(aliases)...)
	all = append(all, sorted(meant)...)
	slices.Sort(all)
	return all
}

// Named is the platform that a word in a path names, such as arm64, armv7 or
// x86_64, and whether it names one. The variant is "" where the word has none,
// even for arm, since arm in a path may be any of them.
func Named(word string) (Platform, bool) {
	text := word
	if to, ok := meant[word]; ok {
		text = to
	}
	p, err := Parse("linux/" + text)
	if err != nil {
		return Platform{}, false
	}
	if !strings.Contains(text, "/") {
		p.Variant = ""
	}
	return p, true
}

// Runs lists the values of [Platform.GoVar] that code may have been compiled
// with to run on p: its own and every lower one, lowest first. Code without a
// floating point unit runs on machines that have one.
func (p Platform) Runs() []string {
	_, own := p.GoVar()
	list := []string{}
	for _, v := range arches[p.Arch].values {
		if !slices.Contains(list, v.value) && !(p.Arch == "arm64" && diverged(own, v.value)) {
			list = append(list, v.value)
		}
		if v.value == own {
			break
		}
	}
	return list
}

// diverged reports whether other is one of Arm's v8.x that v9.y, which grew out
// of v8.5, does not include: v9.y has v8.x up to x = y+5 (as the Go toolchain's
// internal/buildcfg has it).
func diverged(own, other string) bool {
	var x, y int
	if _, err := fmt.Sscanf(own, "v9.%d", &y); err != nil {
		return false
	}
	_, err := fmt.Sscanf(other, "v8.%d", &x)
	return err == nil && x > y+5
}

// All are the platforms that Go compiles for, without their variants, as `go tool
// dist list` has them. Sorted by text.
func All() []Platform {
	var all []Platform
	for _, name := range sorted(arches) {
		for _, os := range arches[name].oses {
			all = append(all, Platform{OS: os, Arch: name, Variant: arches[name].implied})
		}
	}
	slices.SortFunc(all, Compare)
	return all
}

// Images are all platforms that an image can be for: linux on every
// architecture, with each of its variants. Sorted by text.
func Images() []Platform {
	var all []Platform
	for _, name := range archNames("linux") {
		a := arches[name]
		if a.implied == "" {
			all = append(all, Platform{OS: "linux", Arch: name})
		}
		for _, v := range a.values {
			if normal, ok := a.variant(v.name); ok && normal == v.name {
				all = append(all, Platform{OS: "linux", Arch: name, Variant: normal})
			}
		}
	}
	slices.SortFunc(all, Compare)
	return all
}
