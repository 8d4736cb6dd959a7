package audit

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

func parse(t *testing.T, text string) platform.Platform {
	t.Helper()
	p, err := platform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// texts are findings without their platform.
func texts(list []Finding) []string {
	var all []string
	for _, f := range list {
		text := f.Message
		if f.NotChecked {
			text = "? " + text
		}
		all = append(all, text)
	}
	return all
}

// header is an ELF file of one program header at most, and no sections.
func header(e platform.ELF, kind elf.Type, abi elf.OSABI, interp string) []byte {
	order := e.ByteOrder()
	var out bytes.Buffer
	ident := [16]byte{0x7f, 'E', 'L', 'F', byte(e.Class), byte(e.Data), 1, byte(abi)}
	segments := uint16(0)
	if interp != "" {
		segments = 1
	}
	if e.Class == elf.ELFCLASS32 {
		binary.Write(&out, order, elf.Header32{Ident: ident, Type: uint16(kind), Machine: uint16(e.Machine), Version: 1, Entry: 1, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: segments})
		if interp != "" {
			binary.Write(&out, order, elf.Prog32{Type: uint32(elf.PT_INTERP), Off: 84, Filesz: uint32(len(interp) + 1)})
		}
	} else {
		binary.Write(&out, order, elf.Header64{Ident: ident, Type: uint16(kind), Machine: uint16(e.Machine), Version: 1, Entry: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: segments})
		if interp != "" {
			binary.Write(&out, order, elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 120, Filesz: uint64(len(interp) + 1)})
		}
	}
	out.WriteString(interp + "\x00")
	return out.Bytes()
}

// Of all pairs of architectures, exactly the equal ones pass: class, byte order
// and machine are all compared.
func TestHeaderOfEveryArchitectureAgainstEveryOther(t *testing.T) {
	var arches []platform.Platform
	for _, p := range platform.Images() {
		p, _ = platform.Parse("linux/" + p.Arch)
		if !slices.Contains(arches, p) {
			arches = append(arches, p)
		}
	}
	if len(arches) < 13 {
		t.Fatal(arches)
	}
	for _, is := range arches {
		for _, want := range arches {
			err := Wrong(Binary(bytes.NewReader(header(is.ELF(), elf.ET_EXEC, 0, "")), want, BinaryOptions{}))
			if equal := is.Arch == want.Arch; equal != (err == nil) {
				t.Errorf("%s for %s: %v", is, want, err)
			}
		}
	}
}

func TestJudgesByWhatTheFileIs(t *testing.T) {
	amd64, mips := parse(t, "linux/amd64"), parse(t, "linux/mips")
	const noInfo = "? no Go build info, so only the header was compared, not GOAMD64"
	const loader = "/lib64/ld-linux-x86-64.so.2"
	for _, c := range []struct {
		name string
		data []byte
		want platform.Platform
		cgo  bool
		says []string
	}{
		{"fine but for the build info", header(amd64.ELF(), elf.ET_EXEC, 0, ""), amd64, false, []string{noInfo}},
		{
			"other machine", header(parse(t, "linux/arm64").ELF(), elf.ET_EXEC, 0, ""), amd64, false,
			[]string{"ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64", noInfo},
		},
		{
			"other byte order", header(parse(t, "linux/mipsle").ELF(), elf.ET_EXEC, 0, ""), mips, false,
			[]string{"ELF is 32-bit little-endian mips, want 32-bit big-endian mips", "? no Go build info, so only the header was compared, not GOMIPS"},
		},
		{"interpreter", header(amd64.ELF(), elf.ET_DYN, 0, loader), amd64, false, []string{"needs the program interpreter " + loader, noInfo}},
		{
			"interpreter of a 32-bit file", header(mips.ELF(), elf.ET_EXEC, 0, "/lib/ld.so.1"), mips, false,
			[]string{"needs the program interpreter /lib/ld.so.1", "? no Go build info, so only the header was compared, not GOMIPS"},
		},
		{"interpreter with cgo", header(amd64.ELF(), elf.ET_DYN, 0, loader), amd64, true, []string{noInfo}},
		{"GNU's mark", header(amd64.ELF(), elf.ET_EXEC, elf.ELFOSABI_LINUX, ""), amd64, false, []string{noInfo}},
		{"other system", header(amd64.ELF(), elf.ET_EXEC, elf.ELFOSABI_FREEBSD, ""), amd64, false, []string{"ELF is for freebsd, want linux", noInfo}},
		{"that system", header(amd64.ELF(), elf.ET_DYN, elf.ELFOSABI_FREEBSD, loader), parse(t, "freebsd/amd64"), false, []string{noInfo}},
		{"object file", header(amd64.ELF(), elf.ET_REL, 0, ""), amd64, false, []string{"not a program: an object file or a library", noInfo}},
		{"magic alone", []byte("\x7fELF"), amd64, false, []string{"ELF is damaged, want 64-bit little-endian x86_64", "not a program: an object file or a library", noInfo}},
		{"machine at its place without the magic", append([]byte("\x7fELG"), header(amd64.ELF(), elf.ET_EXEC, 0, "")[4:]...), amd64, false, []string{"? no program format that is known here"}},
		{"package that is not main", []byte("!<arch>\n__.PKGDEF       0"), amd64, false, []string{"not a program: package is not main"}},
		{"script", []byte("#!/bin/sh\n"), amd64, false, []string{"? a script: what interprets it decides where it runs"}},
		{"empty", nil, amd64, false, []string{"empty file"}},
		{"text", []byte("<html>"), amd64, false, []string{"? no program format that is known here"}},
		{"DOS", []byte("MZ not really"), amd64, false, []string{"? no program format that is known here"}},
	} {
		if got := texts(Binary(bytes.NewReader(c.data), c.want, BinaryOptions{CGO: c.cgo})); !slices.Equal(got, c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
}

func TestBuildInfoDecidesVariants(t *testing.T) {
	for _, c := range []struct{ want, settings, says string }{
		{"linux/arm/v6", "GOOS=linux GOARCH=arm GOARM=6", ""},
		{"linux/arm/v7", "GOOS=linux GOARCH=arm GOARM=6", ""},
		{"linux/arm/v6", "GOOS=linux GOARCH=arm GOARM=7", "built with GOARM=7, want at most 6"},
		{"linux/arm/v6", "GOOS=linux GOARCH=arm GOARM=7,softfloat", "built with GOARM=7,softfloat, want at most 6"},
		{"linux/arm/v7", "GOOS=linux GOARCH=arm GOARM=7,hardfloat", ""},
		{"linux/arm/v5", "GOOS=linux GOARCH=arm GOARM=5,softfloat", ""},
		{"linux/arm/v5", "GOOS=linux GOARCH=arm GOARM=5,hardfloat", "? built with GOARM=5,hardfloat, and linux/arm/v5 does not say whether it has hardfloat"},
		{"linux/arm/v7", "GOOS=linux GOARCH=arm", "? the Go build info has no GOARM"},
		{"linux/amd64", "GOOS=linux GOARCH=amd64 GOAMD64=v1", ""},
		{"linux/amd64", "GOOS=linux GOARCH=amd64 GOAMD64=v3", "built with GOAMD64=v3, want at most v1"},
		{"linux/amd64/v3", "GOOS=linux GOARCH=amd64 GOAMD64=v2", ""},
		{"linux/arm64", "GOOS=linux GOARCH=arm64 GOARM64=v8.0", ""},
		{"linux/arm64", "GOOS=linux GOARCH=arm64 GOARM64=v9.0", "built with GOARM64=v9.0, want at most v8.0"},
		{"linux/arm64", "GOOS=linux GOARCH=arm64 GOARM64=v8.0,lse", "? built with GOARM64=v8.0,lse, and linux/arm64 does not say whether it has lse"},
		{"linux/arm64/v8.1", "GOOS=linux GOARCH=arm64 GOARM64=v8.0,lse", ""},
		{"linux/386", "GOOS=linux GOARCH=386 GO386=softfloat", ""},
		{"linux/s390x", "GOOS=linux GOARCH=s390x", ""},
		{"linux/amd64", "GOOS=android GOARCH=amd64 GOAMD64=v1", "built with GOOS=android"},
		{"linux/ppc64", "GOOS=linux GOARCH=ppc64le GOPPC64=power8", "built with GOARCH=ppc64le"},
		{"linux/s390x", "", "? no Go build info, so only the header was compared"},
	} {
		want := parse(t, c.want)
		p := Program{Format: ELF, ELF: want.ELF(), Program: true, Go: &debug.BuildInfo{}}
		for _, kv := range strings.Fields(c.settings) {
			key, value, _ := strings.Cut(kv, "=")
			p.Go.Settings = append(p.Go.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		if got := strings.Join(texts(p.Judge(want, BinaryOptions{})), "; "); got != c.says {
			t.Errorf("%s with %s: %q, want %q", c.want, c.settings, got, c.says)
		}
	}
}

func TestOtherFormatsByTheirMachine(t *testing.T) {
	for _, c := range []struct {
		want string
		p    Program
		says string
	}{
		{"windows/amd64", Program{Format: PE, Arches: []string{"amd64"}}, "? no Go build info, so only the header was compared, not GOAMD64"},
		{"windows/amd64", Program{Format: PE, Arches: []string{"arm64"}}, "PE arm64 file, want amd64; ? no Go build info, so only the header was compared, not GOAMD64"},
		{"darwin/arm64", Program{Format: MachO, Arches: []string{"amd64", "arm64"}}, "? no Go build info, so only the header was compared, not GOARM64"},
		{"linux/arm64", Program{Format: MachO, Arches: []string{"arm64"}}, "Mach-O arm64 file, want ELF"},
		{"windows/amd64", Program{Format: ELF, ELF: platform.Host().ELF()}, "ELF "},
		{"linux/amd64", Program{Format: Unknown, Go: &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOOS", Value: "aix"}, {Key: "GOARCH", Value: "ppc64"}}}}, "built with GOOS=aix"},
	} {
		if got := strings.Join(texts(c.p.Judge(parse(t, c.want), BinaryOptions{})), "; "); got != c.says && !(strings.HasSuffix(c.says, " ") && strings.HasPrefix(got, c.says)) {
			t.Errorf("%s: %q, want %q", c.want, got, c.says)
		}
	}
}

func TestReasonForTheInterpreter(t *testing.T) {
	want := parse(t, "linux/s390x")
	p := Program{Format: ELF, ELF: want.ELF(), Program: true, Interp: "/lib/ld64.so.1"}
	for settings, reason := range map[string]string{"-buildmode": ": built with -buildmode=pie", "CGO_ENABLED": ": built with CGO_ENABLED=1"} {
		value := map[string]string{"-buildmode": "pie", "CGO_ENABLED": "1"}[settings]
		p.Go = &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "s390x"}, {Key: settings, Value: value}}}
		if got := texts(p.Judge(want, BinaryOptions{})); !slices.Equal(got, []string{"needs the program interpreter /lib/ld64.so.1" + reason}) {
			t.Errorf("%q", got)
		}
	}
}

// What the go command makes has no findings for its own platform, and some for
// every other.
func TestBinariesOfTheGoCommand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(1) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := []platform.Platform{parse(t, "linux/amd64"), parse(t, "linux/arm64"), parse(t, runtime.GOOS+"/"+runtime.GOARCH)}
	for _, is := range list {
		file := filepath.Join(dir, "out-"+is.OS+"-"+is.Suffix())
		_, err := run.Output(t.Context(), run.OS{}, run.Cmd{
			Name: "go", Args: []string{"build", "-trimpath", "-ldflags=-s -w", "-o", file, "."}, Dir: dir,
			Env: append(is.GoEnv(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range list {
			found, err := BinaryFile(file, want, BinaryOptions{})
			if err != nil || (want == is) != (len(found) == 0) || (want == is) != (Wrong(found) == nil) {
				t.Errorf("%s for %s: %v, %v", is, want, texts(found), err)
			}
		}
	}
}

func TestFilesThatCannotBeReadAreErrors(t *testing.T) {
	p := parse(t, "linux/amd64")
	if _, err := BinaryFile(filepath.Join(t.TempDir(), "gone"), p, BinaryOptions{}); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := BinaryFile(t.TempDir(), p, BinaryOptions{}); err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestWrongLeavesOutWhatWasNotChecked(t *testing.T) {
	p := parse(t, "linux/arm")
	a, b := Finding{Platform: p, Message: "a", NotChecked: true}, Finding{Platform: p, Message: "b"}
	if err := Wrong([]Finding{a}); err != nil {
		t.Error(err)
	}
	if err := Wrong([]Finding{a, b}); err == nil || err.Error() != "linux/arm/v7: b" {
		t.Error(err)
	}
	if a.Error() != "linux/arm/v7: not checked: a" {
		t.Error(a.Error())
	}
}

// Inspect reads files that strangers published.
func FuzzInspect(f *testing.F) {
	for _, text := range []string{"linux/amd64", "linux/mips", "linux/s390x"} {
		p, _ := platform.Parse(text)
		f.Add(header(p.ELF(), elf.ET_DYN, 0, "/lib/ld.so"))
	}
	f.Add([]byte("MZ"))
	f.Add([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1})
	f.Add([]byte{0xcf, 0xfa, 0xed, 0xfe, 0, 0, 0, 1})
	want, _ := platform.Parse("linux/amd64")
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Inspect(bytes.NewReader(data))
		if len(p.Interp) > maxInterp {
			t.Errorf("an interpreter of %d bytes", len(p.Interp))
		}
		if len(p.Judge(want, BinaryOptions{})) == 0 && p.Go == nil {
			t.Error("passed without build info")
		}
	})
}
