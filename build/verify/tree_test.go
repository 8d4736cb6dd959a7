package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// tree is the result of a Dockerfile on linux/amd64.
func tree(t testing.TB, comment, text string, files ...txtar.File) *result {
	t.Helper()
	r := newRepo(t, []byte("platforms: linux/amd64\n"+comment), append(files, file("Dockerfile", text)))
	s, err := r.subject(t, "app")
	if err != nil {
		t.Fatal(err)
	}
	c := new(contexts)
	t.Cleanup(c.close)
	list := newState(s, newBinaries(s)).reading(c).results()
	if len(list) != 1 {
		t.Fatalf("%d results", len(list))
	}
	return list[0]
}

// answer is what is said of a path: "-" is absent, "?" unknown, else its mode.
func answer(f found) string {
	switch f.is {
	case absent:
		return "-"
	case unknowable:
		return "?"
	}
	text := f.node.Mode.String()
	if f.node.UID != 0 || f.node.GID != 0 {
		text += fmt.Sprintf(" %d:%d", f.node.UID, f.node.GID)
	}
	return strings.Replace(text, fmt.Sprintf("%d", someone), "?", 1)
}

func TestWhatIsKnownOfATree(t *testing.T) {
	const (
		x = "-rwxr-xr-x"
		d = "drwxr-xr-x"
	)
	files := []txtar.File{
		file("run.sh", "#!/bin/sh\n"), file("app.yaml", "a"), file("conf/app.yaml", "b"), file("conf/d/x", "c"), file("link", "-> run.sh"),
		file("rootfs/bin", "-> usr/bin"), file("rootfs/usr/bin/tool", "t"), file("secret", "s"), file(".dockerignore", "secret\nconf/d\n"),
		file("archive.tar", "no archive, but who knows"), file("elf", "\x7fELF....."), file("passwd", "app:x:7:8::/:\n"), file("dirlink", "-> conf"), file("short", "abc"),
	}
	const modes = "mode: app.yaml 0644\nmode: conf/app.yaml 0600\n"
	tests := []struct {
		text string
		want map[string]string
	}{
		{"FROM scratch", map[string]string{"/": d, "/a": "-", "/dev/null": "?", "/proc/self/exe": "?", "/sys": "?", "/development": "-"}},
		{"FROM scratch\nCOPY app.yaml run.sh /etc/", map[string]string{"/etc": d, "/etc/app.yaml": "-rw-r--r--", "/etc/run.sh": x, "/etc/x": "-", "/etc/run.sh/x": "-", "/etc/../etc/run.sh": x, "//etc//run.sh": x, "/etc/.": d, "/etc/x/../run.sh": "-"}},
		{"FROM scratch\nCOPY bin/app-linux-amd64 /app", map[string]string{"/app": x, "/app/app": "-"}},
		{"FROM scratch\nCOPY --chmod=0640 --chown=1:2 bin/app-linux-amd64 /x/app", map[string]string{"/x/app": "-rw-r----- 1:2", "/x": "drw-r----- 1:2"}},

		// What is missing, or not sent, may be made.
		{"FROM scratch\nCOPY missing /x/y", map[string]string{"/x": d, "/x/y": "?", "/x/y/z": "?", "/x/z": "-", "/y": "-"}},
		{"FROM scratch\nCOPY missing /x/", map[string]string{"/x": d, "/x/y": "?", "/y": "-"}},
		{"FROM scratch\nCOPY secret /x", map[string]string{"/x": "?", "/y": "-"}},
		{"FROM scratch\nCOPY run.sh/x /x", map[string]string{"/x": "?"}},
		{"FROM scratch\nCOPY *.nothing /x/", map[string]string{"/x/a": "?", "/y": "-"}},
		{"FROM scratch\nCOPY app.* /x/", map[string]string{"/x/app.yaml": "-rw-r--r--", "/x/a": "?", "/y": "-"}},
		{"FROM scratch\nCOPY bin/app-* /x/", map[string]string{"/x/app-linux-amd64": x, "/x/app-linux-arm64": "?"}},
		{"FROM scratch\nCOPY --parents conf/app.yaml /x/", map[string]string{"/x/conf/app.yaml": "-rw-------", "/x/conf/other": "?", "/y": "-"}},

		// Of directories only what is there is known.
		{"FROM scratch\nCOPY conf/ /c", map[string]string{"/c": d, "/c/app.yaml": "-rw-------", "/c/other": "?", "/c/d": "?", "/d": "-"}},
		{"FROM scratch\nCOPY --chmod=0700 conf /c", map[string]string{"/c": "drwx------", "/c/app.yaml": "-rwx------"}},
		{"FROM scratch\nCOPY . .", map[string]string{"/run.sh": x, "/conf/app.yaml": "-rw-------", "/secret": "?", "/.git": "?", "/x": "?", "/link": x}},
		{"FROM scratch\nCOPY bin/ /b/", map[string]string{"/b/app-linux-amd64": x, "/b/tool": "?"}},
		{"FROM scratch\nCOPY dirlink /c", map[string]string{"/c/app.yaml": "?", "/d": "-"}},
		{"FROM scratch\nCOPY link /start", map[string]string{"/start": x}},
		{"FROM scratch\nCOPY rootfs/ /", map[string]string{"/bin/tool": x, "/usr/bin/tool": x, "/usr/bin/other": "?", "/etc": "?"}},
		{"FROM scratch\nCOPY --exclude=app.yaml conf /c", map[string]string{"/c/app.yaml": "?"}},

		// What a directory may put in the place of a file.
		{"FROM scratch\nCOPY run.sh /c/app.yaml\nCOPY conf/ /c", map[string]string{"/c/app.yaml": "-rw-------"}},
		{"FROM scratch\nCOPY run.sh /c/later\nCOPY conf/ /c", map[string]string{"/c/later": "?"}},
		{"FROM scratch\nCOPY conf/ /c\nCOPY run.sh /c/x/y", map[string]string{"/c/x/y": x, "/c/x/z": "?", "/z": "?"}},

		// Sources that nobody knows.
		{"FROM scratch\nCOPY run.sh /x/run.sh\nCOPY --from=busybox:1 /bin/sh /x/sh", map[string]string{"/x/run.sh": x, "/x/sh": "?", "/x/other": "-"}},
		{"FROM scratch\nCOPY --from=busybox:1 /bin /x/", map[string]string{"/x": d, "/x/sh": "?", "/sh": "-"}},
		{"FROM scratch\nCOPY run.sh /run.sh\nCOPY --from=busybox:1 / /", map[string]string{"/run.sh": "?", "/": d}},
		{"FROM scratch AS b\nRUN x\nFROM scratch\nCOPY --from=b /out/app /app", map[string]string{"/app": "?", "/ap": "-"}},
		{"FROM alpine AS b\nCOPY run.sh /run.sh\nFROM scratch\nCOPY --from=b /run.sh /run.sh", map[string]string{"/run.sh": "?", "/x": "-"}},
		{"FROM scratch AS b\nCOPY run.sh /d/run.sh\nCOPY missing /d/m\nFROM scratch\nCOPY --from=b /d /e", map[string]string{"/e/run.sh": x, "/e/m": "?", "/e/n": "-"}},
		{"FROM scratch AS b\nCOPY missing /d/m\nFROM scratch\nCOPY --from=b / /e/", map[string]string{"/e/d": d, "/e/d/m": "?", "/e/d/n": "-"}},
		{"FROM scratch AS b\nCOPY missing /d\nFROM scratch\nCOPY --from=b /d/x /e", map[string]string{"/e": "?", "/f": "-"}},
		{"FROM scratch AS b\nCOPY run.sh /run.sh\nFROM scratch\nCOPY --from=b /*.sh /x/", map[string]string{"/x/run.sh": x, "/x/y": "-"}},
		{"FROM scratch AS b\nCOPY run.sh /run.sh\nCOPY missing /m\nFROM scratch\nCOPY --from=b /*.sh /x/", map[string]string{"/x/run.sh": "?", "/y": "-"}},

		// Archives and downloads.
		{"FROM scratch\nADD archive.tar /x", map[string]string{"/x": "?", "/y": "-"}},
		{"FROM scratch\nADD archive.tar /x/", map[string]string{"/x": d, "/x/y": "?", "/y": "-"}},
		{"FROM scratch\nADD elf run.sh short /x/", map[string]string{"/x/elf": x, "/x/run.sh": x, "/x/short": x, "/x/y": "-"}},
		{"FROM scratch\nADD conf /c", map[string]string{"/c/app.yaml": "-rw-------", "/y": "-"}},
		{"FROM scratch\nADD https://example.com/d/tool /x/", map[string]string{"/x/tool": "-rw-------", "/x/y": "-"}},
		{"FROM scratch\nADD --unpack=true https://example.com/t.tar /x/", map[string]string{"/x/t.tar": "?", "/y": "-"}},
		{"FROM scratch\nADD https://github.com/a/b.git#main /x/", map[string]string{"/x/y": "?", "/y": "-"}},

		// Heredocs, WORKDIR, --link.
		{"FROM scratch\nCOPY <<EOF <<X /x/\nEOF\nX\nWORKDIR /w/v", map[string]string{"/x/EOF": "-rw-r--r--", "/x/X": "-rw-r--r--", "/w/v": d, "/x/y": "-"}},
		{"FROM scratch\nUSER 5:6\nWORKDIR /w\nUSER 0", map[string]string{"/w": d + " 5:6"}},
		{"FROM scratch\nCOPY run.sh /a\nCOPY --link app.yaml /b/c\nCOPY --link missing /d", map[string]string{"/a": x, "/b/c": "-rw-r--r--", "/b": d, "/d": "?", "/e": "-"}},
		{"FROM scratch\nCOPY rootfs /\nCOPY --link run.sh /bin/run.sh", map[string]string{"/bin/run.sh": x, "/usr/bin/run.sh": "?"}},

		// Bases and RUN.
		{"FROM alpine\nCOPY run.sh /run.sh", map[string]string{"/run.sh": x, "/x": "?", "/run.sh/x": "?", "/etc": "?"}},
		{"FROM scratch\nCOPY run.sh /run.sh\nRUN x\nCOPY app.yaml /a", map[string]string{"/run.sh": "?", "/a": "-rw-r--r--", "/x": "?"}},
		{"FROM gcr.io/distroless/static\nCOPY run.sh /run.sh", map[string]string{"/run.sh": x, "/x": "-", "/etc/passwd": "?", "/usr/bin/x": "-", "/bin/sh": "-", "/busybox/sh": "-"}},
		{"FROM gcr.io/distroless/static\nCOPY run.sh /usr/bin/run", map[string]string{"/usr/bin/run": x, "/bin/run": "?", "/sbin/x": "-"}},
		{"FROM gcr.io/distroless/base\nCOPY run.sh /run.sh", map[string]string{"/usr/bin/openssl": "?", "/bin/sh": "-", "/x": "-"}},
		{"FROM gcr.io/distroless/static:debug", map[string]string{"/busybox/sh": "?", "/x": "?"}},
		{"FROM gcr.io/distroless/static:nonroot\nCOPY run.sh app", map[string]string{"/app": "?", "/x": "?"}},
		{"FROM gcr.io/distroless/static:latest\nCOPY run.sh app", map[string]string{"/app": x}},
		{"FROM alpine\nWORKDIR w\nCOPY run.sh app", map[string]string{"/w": "?", "/w/app": "?"}},
		{"FROM alpine\nWORKDIR /w\nCOPY run.sh app", map[string]string{"/w": d, "/w/app": x}},

		// Owners.
		{"FROM scratch\nCOPY passwd /etc/passwd\nCOPY --chown=app run.sh /a\nCOPY --chown=no run.sh /b", map[string]string{"/a": x + " 7:8", "/b": x}},
		{"FROM alpine\nCOPY --chown=app run.sh /a", map[string]string{"/a": x + " ?:2147483646"}},
		{"FROM gcr.io/distroless/static:nonroot\nCOPY --chown=nonroot run.sh /a\nCOPY --chown=no run.sh /b\nCOPY --chown=5:nobody run.sh /c\nCOPY --chown=5:no run.sh /d", map[string]string{"/a": x + " 65532:65532", "/b": x, "/c": x + " 5:65534", "/d": x + " 5:5"}},

		// What fails to build says nothing.
		{"FROM scratch\nCOPY --chown=app run.sh /a", map[string]string{"/a": "?", "/b": "?"}},
		{"FROM scratch AS b\nFROM scratch\nCOPY run.sh /a\nCOPY --from=b /x /a", map[string]string{"/a": "?", "/b": "?"}},
		{"FROM scratch\nCOPY run.sh /x\nCOPY conf/ /x", map[string]string{"/x": "?", "/y": "?"}},
	}
	for _, tt := range tests {
		b := tree(t, modes, tt.text+"\n", files...)
		for p, want := range tt.want {
			if got := answer(b.find(p)); got != want {
				t.Errorf("%s\n%s: %s, want %s", tt.text, p, got, want)
			}
		}
	}
}

func TestLoopsOfLinksAreAbsent(t *testing.T) {
	b := tree(t, "", "FROM scratch\nCOPY d/ /d\n", file("d/a", "-> b"), file("d/b", "-> a"))
	if f := b.find("/d/a"); f.is == present {
		t.Errorf("%+v", f)
	}
}

func TestADirectoryIsNotReadForWhatLiesElsewhere(t *testing.T) {
	b := tree(t, "", "FROM scratch\nCOPY . /src\nCOPY conf/ /conf\nCOPY bin/app-linux-amd64 /app\n", file("conf/a", "a"))
	for _, p := range []string{"/app", "/nothing", "/src", "/conf"} {
		b.find(p)
	}
	if n := len(b.st.read.trees); n != 0 {
		t.Errorf("%d walks", n)
	}
	b.find("/conf/a")
	b.find("/conf/a")
	if n := len(b.st.read.trees); n != 1 {
		t.Errorf("%d walks for one file", n)
	}
}

func TestPlatformsReadAFileOnce(t *testing.T) {
	r := newRepo(t, []byte("platforms: linux/amd64 linux/arm64 linux/s390x"), []txtar.File{file("Dockerfile", "FROM scratch\nCOPY a b /\nCOPY c/ /c\nENTRYPOINT [\"/c/x\"]\n"), file("a", "a"), file("b", "b"), file("c/x", "x")})
	s, err := r.subject(t, "app")
	if err != nil {
		t.Fatal(err)
	}
	var c contexts
	defer c.close()
	for range 2 {
		for _, b := range newState(s, newBinaries(s)).reading(&c).results() {
			b.find("/c/x")
		}
	}
	if len(c.list) != 1 || len(c.list[0].files) != 3 || len(c.list[0].trees) != 1 {
		t.Errorf("%d contexts: %+v", len(c.list), c.list[0])
	}
}

func TestWithoutADirectoryNothingIsSaid(t *testing.T) {
	r := newRepo(t, nil, []txtar.File{file("Dockerfile", "FROM scratch\nCOPY a /a\nENTRYPOINT [\"/b\"]\n"), file("a", "a")})
	s, err := r.subject(t, "app")
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = nil
	if got := Check([]Subject{s}, r.options(t, "")); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsKnownOfBases(t *testing.T) {
	for ref, want := range map[string]string{
		"gcr.io/distroless/static":                       "user 0",
		"gcr.io/distroless/static:nonroot":               "user 65532",
		"gcr.io/distroless/static:nonroot@sha256:00":     "user 65532",
		"gcr.io/distroless/static@sha256:00":             "user ",
		"gcr.io/distroless/static-debian12:debug":        "shell programs own starts user 0",
		"gcr.io/distroless/base-nossl-debian12:latest":   "programs user 0",
		"gcr.io/distroless/java21-debian12:nonroot":      "programs own starts user 65532",
		"gcr.io/distroless/nodejs22-debian12":            "programs own starts user ",
		"gcr.io/distroless/python3-debian12":             "shell programs own starts user ",
		"cgr.dev/chainguard/static:latest":               "programs starts user 65532",
		"registry.k8s.io/build-image/go-runner:v2":       "programs own starts user ",
		"cgr.dev/chainguard/static:latest-dev":           "",
		"docker.io/library/alpine:3.20":                  "",
		"localhost:5000/distroless/static":               "",
		"gcr.io/distroless.example.com/static:something": "",
	} {
		got := ""
		if b := knownAs(ref); b != nil {
			for _, w := range []struct {
				word string
				is   bool
			}{{"shell ", b.shell}, {"programs ", b.programs}, {"own ", b.own}, {"starts ", b.starts}} {
				if w.is {
					got += w.word
				}
			}
			got += "user " + b.user
		}
		if got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
}

// BenchmarkTree asks for the tree of one binary on scratch, without what
// evaluating and the other rules cost.
func BenchmarkTree(b *testing.B) {
	for name, from := range map[string]string{"scratch": "scratch", "distroless": "gcr.io/distroless/static:nonroot", "alpine": "alpine:3.20"} {
		b.Run(name, func(b *testing.B) {
			t := tree(b, "", "FROM "+from+"\nARG TARGETARCH\nCOPY LICENSE /licenses/\nCOPY bin/app-linux-${TARGETARCH} /app\nENTRYPOINT [\"/app\"]\n", file("LICENSE", "x"))
			for b.Loop() {
				t.st.trees = nil
				if t.st.results()[0].find("/app").is != present {
					b.Fatal("not found")
				}
			}
		})
	}
}
