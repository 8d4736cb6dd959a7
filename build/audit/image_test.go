package audit

import (
	"context"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/platform"
)

const (
	loader = "/lib64/ld-linux-x86-64.so.2"
	notPie = "needs the program interpreter " + loader + ", which is not in the image"
)

// one is an image of amd64 with one layer.
type one struct {
	name   string
	config v1.Config
	files  []file
	says   string // findings, without their platform; "" is fine
	unsure string // a part of what was not checked
}

func (c one) audit(t *testing.T) []Finding {
	t.Helper()
	read := layerOf(t, c.files...)
	found := c.auditOf(t, read)
	// What was just written is not read back, and judged all the same.
	listed := c.auditOf(t, listedLayer{read, entriesOf(t, archive(t, c.files...))})
	if !slices.Equal(listed, found) {
		t.Errorf("read: %v\nlisted: %v", found, listed)
	}
	return found
}

func (c one) auditOf(t *testing.T, l v1.Layer) []Finding {
	t.Helper()
	img := imageOf(t, "linux/amd64", c.config, l)
	found, err := Image(t.Context(), Subject{Image: img, Platform: parse(t, "linux/amd64"), Base: &Base{}}, Options{Dir: t.TempDir()})
	if err != nil {
		t.Error(err)
	}
	return found
}

func judgeAll(t *testing.T, cases []one) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := c.audit(t)
			if got := strings.ReplaceAll(says(found), "linux/amd64: ", ""); got != c.says {
				t.Errorf("says\n%s\nwant\n%s", got, c.says)
			}
			if !strings.Contains(unsure(found), c.unsure) {
				t.Errorf("not checked\n%s\nwant\n%s", unsure(found), c.unsure)
			}
			for _, f := range found {
				if f.NotChecked == (f.Fix != "") {
					t.Errorf("fix %q of: %v", f.Fix, f)
				}
			}
		})
	}
}

func starts(words ...string) v1.Config { return v1.Config{Entrypoint: words} }

func TestEntrypoints(t *testing.T) {
	app := file{name: "app", data: program(t, "linux/amd64")}
	sh := file{name: "bin/sh", data: app.data}
	named := func(name, data string) file { return file{name: name, data: data} }
	judgeAll(t, []one{
		{"a program", starts("/app"), []file{app}, "", "no Go build info"},
		{"data alone", v1.Config{}, []file{named("data.txt", "x")}, "", ""},
		{"nothing to start but programs", v1.Config{}, []file{app}, "", ""},
		{"other machine", starts("/app"), []file{named("app", program(t, "linux/arm64"))}, "/app: ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64", ""},
		{"other machine, without any mode", starts("/app"), []file{{name: "app", data: program(t, "linux/arm64"), mode: 0o100}}, "/app: ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64", ""},
		{"directory", starts("/app"), []file{{name: "app/"}}, "ENTRYPOINT /app is a directory", ""},
		{"nothing there", starts("/app", "x"), []file{named("bin/app", app.data)}, "ENTRYPOINT /app is not in the image", ""},
		{"empty word", starts(""), nil, "ENTRYPOINT is an empty word", ""},
		{"empty file", starts("/app"), []file{{name: "app"}}, "/app: is started, and is empty", ""},
		{"text", starts("/app"), []file{named("app", "hello")}, "", "/app: no program format that is known here"},
		{"another system's", starts("/app"), []file{named("app", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")}, "/app: Mach-O arm64 file, want ELF", ""},
		{"through PATH", v1.Config{Entrypoint: []string{"app"}, Env: []string{"PATH=/x:/opt/bin"}}, []file{named("opt/bin/app", app.data)}, "", ""},
		{"through the usual PATH", starts("app"), []file{named("usr/local/bin/app", app.data)}, "", ""},
		{"not in PATH", v1.Config{Entrypoint: []string{"app"}, Env: []string{"PATH=/x:/opt/bin"}}, []file{app}, "ENTRYPOINT app is nowhere in PATH (/x:/opt/bin)", ""},
		{"PATH passes over directories", v1.Config{Cmd: []string{"app"}, Env: []string{"PATH=/a:/b"}}, []file{{name: "a/app/"}, named("b/app", app.data)}, "", ""},
		{"PATH to a directory alone", v1.Config{Cmd: []string{"app"}, Env: []string{"PATH=/a"}}, []file{{name: "a/app/"}}, "CMD /a/app is a directory", ""},
		{"from WORKDIR", v1.Config{Entrypoint: []string{"./app"}, WorkingDir: "/srv"}, []file{named("srv/app", app.data)}, "", ""},
		{"not in WORKDIR", v1.Config{Entrypoint: []string{"./app"}, WorkingDir: "/srv"}, []file{app}, "ENTRYPOINT /srv/app is not in the image", ""},
		{"through links", starts("/run/app"), []file{{name: "run", link: "/usr"}, {name: "usr/app", link: "../app"}, app}, "", ""},
		{"a link to nothing", starts("/run"), []file{{name: "run", link: "gone"}}, "ENTRYPOINT /run is a link to /gone, which is not in the image", ""},
		{"a link to itself", starts("/run"), []file{{name: "run", link: "run"}}, "ENTRYPOINT /run: too many links", ""},
		{"through a link to another machine's", starts("/run"), []file{{name: "run", link: "usr/app"}, named("usr/app", program(t, "linux/386"))}, "/usr/app: ELF is 32-bit little-endian 386, want 64-bit little-endian x86_64", ""},
		{"shell form", starts("/bin/sh", "-c", "app"), []file{sh}, "", ""},
		{"shell form without shell", starts("/bin/sh", "-c", "app"), []file{app}, "ENTRYPOINT in shell form: /bin/sh is not in the image", ""},
		{"CMD in shell form", v1.Config{Cmd: []string{"/bin/sh", "-c", "app"}}, []file{app}, "CMD in shell form: /bin/sh is not in the image", ""},
	})
}

func TestScripts(t *testing.T) {
	amd, arm := program(t, "linux/amd64"), program(t, "linux/arm64")
	with := func(line string, more ...file) []file { return append([]file{{name: "run", data: line}}, more...) }
	sh, env, py := file{name: "bin/sh", data: amd}, file{name: "usr/bin/env", data: amd}, file{name: "usr/bin/python3", data: amd}
	judgeAll(t, []one{
		{"interpreter", starts("/run"), with("#!/bin/sh -e\n", sh), "", ""},
		{"blanks around it", starts("/run"), with("#! /bin/sh \nx", sh), "", ""},
		{"no end of line", starts("/run"), with("#!/bin/sh", sh), "", ""},
		{"interpreter that is not there", starts("/run"), with("#!/bin/bash\n", sh), "/run: its interpreter /bin/bash is not in the image", ""},
		{"interpreter of another machine", starts("/run"), with("#!/x/sh\n", file{name: "x/sh", data: arm}), "/x/sh: ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64", ""},
		{"Windows line", starts("/run"), with("#!/bin/sh\r\n", sh), "/run: its first line ends in a carriage return, which Linux takes for a part of the interpreter's name", ""},
		{"no interpreter", starts("/run"), with("#!\n"), "/run: its first line names no interpreter", ""},
		{"env", starts("/run"), with("#!/usr/bin/env python3\n", env, py), "", ""},
		{"env of what is not there", starts("/run"), with("#!/usr/bin/env bash\n", env), "/run: its interpreter bash is nowhere in PATH (/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)", ""},
		{"env with two words", starts("/run"), with("#!/usr/bin/env python3 -u\n", env, py), "/run: its interpreter python3 -u is nowhere in PATH (/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)", ""},
		{"env -S", starts("/run"), with("#!/usr/bin/env -S A=b python3 -u\n", env, py), "", ""},
		{"env with options", starts("/run"), with("#!/usr/bin/env -i python3\n", env, py), "", `what env starts with "-i python3"`},
		{"no env", starts("/run"), with("#!/usr/bin/env python3\n", py), "/run: its interpreter /usr/bin/env is not in the image", ""},
		{"a script of a script", starts("/run"), with("#!/inner\n", file{name: "inner", data: "#!/bin/sh\n"}, sh), "", ""},
		{"a script of itself", starts("/run"), with("#!/run\n"), "/run: more than 4 scripts interpret each other", ""},
		{"a line without end", starts("/run"), with("#!/" + strings.Repeat("x", 300)), "", "longer than 256 bytes"},
		{"in CMD of an exec form", v1.Config{Entrypoint: []string{"/run"}, Cmd: []string{"/gone"}}, with("#!/bin/sh\n", sh), "", ""},
	})
}

func TestUsers(t *testing.T) {
	as := func(user string) v1.Config { return v1.Config{Entrypoint: []string{"/app"}, User: user} }
	app := func(mode int64, uid, gid int) file {
		return file{name: "app", data: program(t, "linux/amd64"), mode: mode, uid: uid, gid: gid}
	}
	etc := []file{
		{name: "etc/passwd", data: "root:x:0:0::/:\nbob:x:7:8::/:\n", mode: 0o644},
		{name: "etc/group", data: "root:x:0:\nwheel:x:10:alice,bob\nown:x:8:\n", mode: 0o644},
	}
	with := func(f ...file) []file { return append(f, etc...) }
	const cannot = "ENTRYPOINT /app is not executable for its user "
	judgeAll(t, []one{
		{"nobody may", as(""), with(app(0o644, 0, 0)), "ENTRYPOINT /app is not executable", ""},
		{"root may what one class may", as(""), with(app(0o641, 7, 7)), "", ""},
		{"others may not", as("1000:1000"), with(app(0o750, 0, 0)), cannot + "1000:1000", ""},
		{"owner", as("1000:1000"), with(app(0o700, 1000, 0)), "", ""},
		{"owner without, though others may", as("1000"), with(app(0o655, 1000, 0)), cannot + "1000", ""},
		{"group", as("1000:5"), with(app(0o710, 0, 5)), "", ""},
		{"group by name", as("1000:own"), with(app(0o710, 0, 8)), "", ""},
		{"number without a group is in root's", as("1000"), with(app(0o710, 0, 0)), "", ""},
		{"number that passwd knows", as("7"), with(app(0o710, 0, 8)), "", ""},
		{"name", as("bob"), with(app(0o710, 0, 8)), "", ""},
		{"further group of a name", as("bob"), with(app(0o710, 0, 10)), "", ""},
		{"further group does not count with a group", as("bob:own"), with(app(0o710, 0, 10)), cannot + "bob:own", ""},
		{"name that is not there", as("eve"), with(app(0o755, 0, 0)), "its user eve is not in its /etc/passwd, so it does not start", ""},
		{"name without passwd", as("eve"), []file{app(0o755, 0, 0)}, "its user eve is not in its /etc/passwd, so it does not start", ""},
		{"group that is not there", as("bob:none"), with(app(0o755, 0, 0)), "its group none is not in its /etc/group, so it does not start", ""},
		{"number without passwd", as("65532:65532"), []file{app(0o755, 0, 0)}, "", ""},
		{"root by name without passwd", as("root"), []file{app(0o755, 0, 0)}, "", ""},
		{"directory", v1.Config{Entrypoint: []string{"/d/app"}, User: "5:5"}, []file{{name: "d/", mode: 0o700}, {name: "d/app", data: program(t, "linux/amd64")}}, "ENTRYPOINT /d/app is in a directory that cannot be entered for its user 5:5", ""},
		{"directory of root for root", starts("/d/app"), []file{{name: "d/", mode: 0o600}, {name: "d/app", data: program(t, "linux/amd64")}}, "", ""},
		{"script that cannot be read", v1.Config{Entrypoint: []string{"/run"}, User: "5:5"}, []file{{name: "run", data: "#!/bin/sh\n", mode: 0o711}, {name: "bin/sh", data: program(t, "linux/amd64")}}, "/run: a script that its user 5:5 cannot read", ""},
	})
}

func TestLinkage(t *testing.T) {
	app := func(interp, runPath string, needed ...string) file {
		return file{name: "opt/app/app", data: dynamic(amd64, 1, interp, runPath, needed...)}
	}
	lib := func(name string, needed ...string) file {
		return file{name: name, data: dynamic(amd64, 0, "", "", needed...), mode: 0o644}
	}
	arm := dynamic(platformELF(t, "linux/arm64"), 0, "", "")
	ld := lib("lib64/ld-linux-x86-64.so.2")
	musl := lib("lib/ld-musl-x86_64.so.1")
	start := starts("/opt/app/app")
	const p = "/opt/app/app: "
	judgeAll(t, []one{
		{"static pie", start, []file{app("", "")}, "", ""},
		{"no interpreter in scratch", start, []file{app(loader, "")}, p + notPie, ""},
		{"the same for what is not the entrypoint", v1.Config{}, []file{app(loader, "")}, p + notPie, ""},
		{"interpreter", start, []file{app(loader, ""), ld}, "", ""},
		{"interpreter through links", start, []file{app(loader, ""), {name: "lib64", link: "usr/lib64"}, lib("usr/lib64/ld-2.so"), {name: "usr/lib64/ld-linux-x86-64.so.2", link: "ld-2.so"}}, "", ""},
		{"interpreter that is a directory", start, []file{app(loader, ""), {name: loader[1:] + "/"}}, p + "its program interpreter " + loader + " is no regular file", ""},
		{"interpreter of another machine", start, []file{app("/x/ld", ""), {name: "x/ld", data: arm, mode: 0o644}}, p + "its program interpreter /x/ld is 64-bit little-endian aarch64", ""},
		{"interpreter that is text", start, []file{app("/x/ld", ""), {name: "x/ld", data: "no ELF"}}, p + "its program interpreter /x/ld is no ELF file", ""},
		{"library", start, []file{app(loader, "", "liba.so.1"), ld, lib("usr/lib/liba.so.1")}, "", ""},
		{"library that is not there", start, []file{app(loader, "", "liba.so.1"), ld}, p + "needs the library liba.so.1, which is not in the image", ""},
		{"library in Debian's directory", start, []file{app(loader, "", "liba.so.1"), ld, lib("usr/lib/x86_64-linux-gnu/liba.so.1")}, "", ""},
		{"library that ld.so.conf names", start, []file{app(loader, "", "liba.so.1"), ld, lib("opt/lib/liba.so.1"), {name: "etc/ld.so.conf", data: "# x\ninclude ld.so.conf.d/*.conf\n"}, {name: "etc/ld.so.conf.d/a.conf", data: "/opt/lib\n"}, {name: "etc/ld.so.conf.d/b.txt", data: "/none\n"}}, "", ""},
		{"ld.so.conf that includes itself", start, []file{app(loader, "", "liba.so.1"), ld, {name: "etc/ld.so.conf", data: "include /etc/ld.so.conf\n"}}, p + "needs the library liba.so.1, which is not in the image", ""},
		{"LD_LIBRARY_PATH", v1.Config{Entrypoint: []string{"/opt/app/app"}, Env: []string{"LD_LIBRARY_PATH=/l"}}, []file{app(loader, "", "liba.so.1"), ld, lib("l/liba.so.1")}, "", ""},
		{"RUNPATH", start, []file{app(loader, "$ORIGIN/../lib", "liba.so.1"), ld, lib("opt/lib/liba.so.1")}, "", ""},
		{"library elsewhere", start, []file{app(loader, "", "liba.so.1"), ld, lib("opt/lib/liba.so.1")}, p + "needs the library liba.so.1, which is in /opt/lib alone, where its interpreter does not look", ""},
		{"library elsewhere, of what a wrapper may start", v1.Config{}, []file{app(loader, "", "liba.so.1"), ld, lib("opt/lib/liba.so.1")}, "", "needs the library liba.so.1, which is in /opt/lib alone"},
		{"library of another machine", start, []file{app(loader, "", "liba.so.1"), ld, {name: "usr/lib/liba.so.1", data: arm, mode: 0o644}}, p + "needs the library liba.so.1, which is in /usr/lib alone, where its interpreter does not look\n/usr/lib/liba.so.1: ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64", ""},
		{"library of a library", start, []file{app(loader, "", "liba.so.1"), ld, lib("lib64/liba.so.1", "libb.so.1")}, p + "needs the library libb.so.1, which /lib64/liba.so.1 needs, which is not in the image", ""},
		{"libraries in a ring", start, []file{app(loader, "", "liba.so.1"), ld, lib("lib64/liba.so.1", "libb.so.1", "ld-linux-x86-64.so.2"), lib("lib64/libb.so.1", "liba.so.1")}, "", ""},
		{"musl is its own libc", start, []file{app("/lib/ld-musl-x86_64.so.1", "", "libc.musl-x86_64.so.1", "libpthread.so.0"), musl}, "", ""},
		{"musl looks into no lib64", start, []file{app("/lib/ld-musl-x86_64.so.1", "", "liba.so"), musl, lib("lib64/liba.so")}, p + "needs the library liba.so, which is in /lib64 alone, where its interpreter does not look", ""},
		{"musl's path", start, []file{app("/lib/ld-musl-x86_64.so.1", "", "liba.so"), musl, lib("lib64/liba.so"), {name: "etc/ld-musl-x86_64.path", data: "/lib\n/lib64\n"}}, "", ""},
		{"a library alone needs nothing", v1.Config{}, []file{lib("usr/lib/liba.so", "libgone.so")}, "", ""},
	})
}

func platformELF(t *testing.T, text string) platform.ELF { return parse(t, text).ELF() }

func TestProgramsThatTheImageAdds(t *testing.T) {
	amd, arm := file{name: "bin/app", data: program(t, "linux/amd64")}, program(t, "linux/arm64")
	bpf := []byte(program(t, "linux/amd64"))
	bpf[18], bpf[19] = 247, 0
	object := []byte(arm)
	object[16] = 1
	const wrong = "ELF is 64-bit little-endian aarch64, want 64-bit little-endian x86_64"
	judgeAll(t, []one{
		{"planted", starts("/bin/app"), []file{amd, {name: "opt/planted", data: arm}}, "/opt/planted: " + wrong, ""},
		{"many", v1.Config{}, []file{{name: "a", data: arm}, {name: "b", data: arm}, {name: "c", data: arm}, {name: "d", data: arm}, {name: "e", data: arm}}, "/a, /b, /c and 2 more: " + wrong, ""},
		{"a library", v1.Config{}, []file{{name: "usr/lib/x.so.1", data: arm, mode: 0o644}}, "/usr/lib/x.so.1: " + wrong, ""},
		{"a library of a bundle", v1.Config{}, []file{{name: "app/prebuilds/linux-arm64/x.node", data: dynamic(platformELF(t, "linux/arm64"), 0, "", "")}}, "", "/app/prebuilds/linux-arm64/x.node: a library for"},
		{"a library for the whole system", v1.Config{}, []file{{name: "usr/lib/aarch64-linux-gnu/x.so", data: dynamic(platformELF(t, "linux/arm64"), 0, "", "")}}, "/usr/lib/aarch64-linux-gnu/x.so: " + wrong, ""},
		{"what a test reads", v1.Config{}, []file{{name: "testdata/x", data: arm, mode: 0o644}}, "", ""},
		{"an object file", v1.Config{}, []file{{name: "x.o", data: string(object)}}, "", ""},
		{"the kernel's own", v1.Config{}, []file{{name: "x.bpf", data: string(bpf)}}, "", ""},
		{"the shell", v1.Config{}, []file{{name: "usr/bin/dash", data: arm}, {name: "bin/sh", link: "/usr/bin/dash"}}, "/bin/sh: " + wrong + "\n/usr/bin/dash: " + wrong, ""},
		{"the loader", v1.Config{}, []file{{name: "lib/ld-linux-aarch64.so.1", data: arm, mode: 0o644}}, "/lib/ld-linux-aarch64.so.1: the program interpreter is 64-bit little-endian aarch64, and there is none for 64-bit little-endian x86_64\n/lib/ld-linux-aarch64.so.1: " + wrong, ""},
	})
}

// Of layers that are the base's, only what is started, and what nearly every
// base has, counts; a planted file counts in any layer above.
func TestTheBase(t *testing.T) {
	amd, arm := program(t, "linux/amd64"), program(t, "linux/arm64")
	base := imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, file{name: "opt/cross", data: arm}, file{name: "usr/bin/tool", data: amd}))
	config := must[[]byte](t)(base.RawConfigFile())
	img := func(start string, files ...file) v1.Image {
		layers := append(must[[]v1.Layer](t)(base.Layers()), layerOf(t, files...))
		return imageOf(t, "linux/amd64", v1.Config{Entrypoint: []string{start}, Labels: map[string]string{
			labelBaseName: "example.com/base:1", labelBaseDigest: "sha256:" + strings.Repeat("0", 64),
		}}, layers...)
	}
	resolves := func(raw []byte, err error) Options {
		return Options{Dir: t.TempDir(), Base: func(_ context.Context, name, digest string, p platform.Platform) ([]byte, error) {
			if name != "example.com/base:1" || !strings.HasPrefix(digest, "sha256:0") || p.Arch != "amd64" {
				t.Error(name, digest, p)
			}
			return raw, err
		}}
	}
	other := must[[]byte](t)(imageOf(t, "linux/arm/v6", v1.Config{}).RawConfigFile())
	for _, c := range []struct {
		name, start string
		base        *Base
		o           Options
		files       []file
		says        string
		unsure      string
	}{
		{"known to the caller", "/usr/bin/tool", &Base{config}, Options{}, nil, "", ""},
		{"known by its label", "/usr/bin/tool", nil, resolves(config, nil), nil, "", ""},
		{"planted above it", "/usr/bin/tool", nil, resolves(config, nil), []file{{name: "opt/x", data: arm}}, "/opt/x: ELF is", ""},
		{"started from it", "/opt/cross", nil, resolves(config, nil), nil, "/opt/cross: ELF is", ""},
		{"another platform's", "/usr/bin/tool", nil, resolves(other, nil), nil, "its base example.com/base:1 is for linux/arm/v6", ""},
		{"cannot be read", "/usr/bin/tool", nil, resolves(nil, errNotKept), nil, "", "its base cannot be read"},
		{"not known", "/usr/bin/tool", nil, Options{}, nil, "", "/opt/cross: ELF is 64-bit little-endian aarch64, not 64-bit little-endian x86_64; it may be the base's"},
		{"not known, in a usual place", "/usr/bin/tool", nil, Options{}, []file{{name: "usr/local/bin/x", data: arm}}, "/usr/local/bin/x: ELF is", ""},
		{"scratch, says the caller", "/usr/bin/tool", &Base{}, Options{}, nil, "/opt/cross: ELF is", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Image(t.Context(), Subject{Image: img(c.start, c.files...), Platform: parse(t, "linux/amd64"), Base: c.base}, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := says(found); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("says\n%s\nwant\n%s", got, c.says)
			}
			if !strings.Contains(unsure(found), c.unsure) {
				t.Errorf("not checked\n%s\nwant\n%s", unsure(found), c.unsure)
			}
		})
	}
}
