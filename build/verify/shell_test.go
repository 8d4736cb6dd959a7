package verify

import (
	"slices"
	"strings"
	"testing"
)

// heardBy reads a script and says of each call what it is and which GOARCH it
// hears: "*" is unknown, and a question mark follows where the platform may
// decide whether it runs.
func heardBy(text string, env ...string) []string {
	c := scripts{}
	s, ok := c.of([]string{"/bin/sh", "-c", text})
	if !ok {
		return []string{"does not parse"}
	}
	var list []string
	_, calls := c.follow(s, env, "/src")
	for i := range calls {
		one := &calls[i]
		if !goTool.MatchString(one.name()) {
			continue
		}
		said := one.hears["GOARCH"].text + " in " + one.dir.text
		if one.cond {
			said += "?"
		}
		list = append(list, said)
	}
	return list
}

func TestWhatACompilerHears(t *testing.T) {
	target := "TARGETARCH=arm64"
	for text, want := range map[string]string{
		"go build":                                            " in /src",
		"GOARCH=amd64 go build":                               "amd64 in /src",
		"GOARCH=amd64; go build":                              " in /src",
		"GOARCH=amd64; export GOARCH; go build":               "amd64 in /src",
		"export GOARCH=$TARGETARCH && go build":               "arm64 in /src",
		"export GOARCH=amd64; unset GOARCH; go build":         " in /src",
		"set -a; GOARCH=amd64; go build":                      "amd64 in /src",
		"(export GOARCH=amd64); go build":                     " in /src",
		"{ export GOARCH=amd64; }; go build":                  "amd64 in /src",
		"env -i GOARCH=amd64 go build":                        "amd64 in /src",
		"export GOARCH=amd64; env -u GOARCH go build":         " in /src",
		"sudo -E GOARCH=amd64 go build":                       "amd64 in /src",
		"a=amd; GOARCH=${a}64 go build":                       "amd64 in /src",
		"GOARCH=${X:-amd64} go build":                         "amd64 in /src",
		"GOARCH=${TARGETARCH:-amd64} go build":                "arm64 in /src",
		"GOARCH=${TARGETARCH:+s390x} go build":                "s390x in /src",
		"GOARCH=${X:+s390x} go build":                         " in /src",
		"GOARCH=${X%%/*} go build":                            " in /src",
		"GOARCH=${TARGETARCH%%/*} go build":                   "* in /src",
		"GOARCH=$(uname -m) go build":                         "* in /src",
		"GOARCH=`uname -m` go build":                          "* in /src",
		"GOARCH='$TARGETARCH' go build":                       "$TARGETARCH in /src",
		`GOARCH="$TARGETARCH" go build`:                       "arm64 in /src",
		`GOARCH=\a\m\d64 go build`:                            "amd64 in /src",
		". ./env; go build":                                   "* in /src",
		"eval $(x); GOARCH=amd64 go build":                    "amd64 in /src",
		"export $(cat .env); go build":                        "* in /src",
		"cd x && go build":                                    " in /src/x",
		"cd /x; go build":                                     " in /x",
		"cd $(mktemp -d); go build":                           " in *",
		"(cd x; go build); go vet":                            " in /src/x, in /src",
		"if x; then export GOARCH=amd64; fi; go build":        "* in /src",
		"if x; then G=a; else G=a; fi; GOARCH=$G go build":    "a in /src",
		"if [ $TARGETARCH = arm64 ]; then go build; fi":       " in /src?",
		"if [ -f go.mod ]; then go build; fi":                 " in /src",
		"[ $TARGETARCH = arm64 ] && go build":                 " in /src?",
		"case $TARGETARCH in arm64) go build;; esac":          " in /src?",
		"case $X in a) G=1;; *) G=1;; esac; GOARCH=$G go vet": "1 in /src",
		"case $X in a) G=1;; esac; GOARCH=$G go vet":          "* in /src",
		"for i in a b; do go build; done":                     " in /src",
		"for i in amd64 arm64; do GOARCH=$i go build; done":   "* in /src?",
		"for i in s; do GOARCH=$i go build; done":             "s in /src",
		"while read GOARCH; do export GOARCH; go build; done": "* in /src?",
		"f() { go build; }; GOARCH=amd64 f":                   "amd64 in /src",
		"f() { f; }; f; go build":                             "* in /src",
		"go build | tee x":                                    " in /src",
		"time go build":                                       " in /src",
		"sh -ec 'GOARCH=amd64; export GOARCH; go build'":      "amd64 in /src",
		"bash -c \"GOARCH=$TARGETARCH go build\"":             "arm64 in /src",
		"echo go build":                                       "",
		"# go build\ngo \\\n build":                           " in /src",
	} {
		if got := strings.Join(heardBy(text, target), ","); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestArgumentVectorsOfShells(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // the script
	}{
		{[]string{"/bin/sh", "-c", "a; b"}, "a; b"},
		{[]string{"/bin/bash", "-o", "pipefail", "-c", "a"}, "a"},
		{[]string{"/bin/bash", "-euxo", "pipefail", "-c", "a"}, "a"},
		{[]string{"bash", "-exc", "a"}, "a"},
		{[]string{"go", "build", "-o", "a b"}, "go build -o 'a b'"},
		{[]string{"/bin/bash", "script.sh"}, ""},
		{[]string{"pwsh", "-Command", "if ("}, "pwsh -Command 'if ('"},
		{[]string{"/bin/sh", "-c", "if"}, ""},
		{[]string{"a\x00"}, ""},
		{nil, ""},
	} {
		got, ok := scripts{}.of(c.args)
		if ok != (c.want != "") || ok && got.text != c.want {
			t.Errorf("%q: got %q, %v", c.args, got.text, ok)
		}
	}
}

func TestAScriptIsParsedOnce(t *testing.T) {
	c := scripts{}
	a, _ := c.of([]string{"sh", "-c", "a"})
	b, _ := c.of([]string{"bash", "-c", "a"})
	if a.file != b.file || len(c) != 1 {
		t.Errorf("%d entries", len(c))
	}
}

// FuzzScript reads any text as a script: no panic, and positions lie inside it.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"GOARCH=amd64 go build", "if a; then b; else c; fi", "for i in a b; do x; done", "case $x in a) b;; esac", "f() { f; }; f",
		"sh -c 'sh -c \"go build\"'", "export A=$(b) C; env -u A -i D=e go install", "a && b || c | d &", "cat <<E\nx\nE", "while :; do x; done",
		"declare -x A; unset A; set -a; . x", "((a++)); let b=1; [[ a = b ]] && time x", "chmod -x /a; mkdir -p /{a,b}; adduser -u 1 x",
	} {
		f.Add(seed, "TARGETARCH=arm64")
	}
	f.Fuzz(func(t *testing.T, text, env string) {
		if len(text) > 4096 {
			return
		}
		c := scripts{}
		s, ok := c.of([]string{"sh", "-c", text})
		if !ok {
			return
		}
		_, calls := c.follow(s, []string{env}, "/src")
		if len(calls) > mostCommands {
			t.Errorf("%d calls", len(calls))
		}
		for _, one := range calls {
			if len(one.args) == 0 || slices.ContainsFunc(one.args, func(a value) bool { return a.pos > len(text) }) {
				t.Errorf("%+v", one)
			}
		}
	})
}
