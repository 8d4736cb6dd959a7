package shell

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var arch = regexp.MustCompile(`ARCH|amd64`)

// heardBy reads a script and says of each call what it is and which GOARCH it
// hears: "*" is unknown, and a question mark follows where the platform may
// decide whether it runs.
func heardBy(text string, env ...string) []string {
	c := Scripts{Asks: arch.MatchString, Hears: []string{"GOARCH"}}
	s := c.Follow([]string{"/bin/sh", "-c", text}, env, "/src")
	if s == nil {
		return []string{"does not parse"}
	}
	var list []string
	for i := range s.Calls {
		one := &s.Calls[i]
		if one.Name() != "go" {
			continue
		}
		said := one.Hears["GOARCH"].Text + " in " + one.Dir.Text
		if one.Cond {
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
		"GOARCH=${TARGETARCH:0:3} go build":                   "* in /src",
		"GOARCH=${TARGETARCH/r/m} go build":                   "* in /src",
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
		got, ok := new(Scripts).of(c.args)
		if ok != (c.want != "") || ok && got.text != c.want {
			t.Errorf("%q: got %q, %v", c.args, got.text, ok)
		}
	}
}

func TestAScriptIsParsedOnce(t *testing.T) {
	c := Scripts{}
	a, _ := c.of([]string{"sh", "-c", "a"})
	b, _ := c.of([]string{"bash", "-c", "a"})
	if a.file != b.file || len(c.known) != 1 {
		t.Errorf("%d entries", len(c.known))
	}
}

func TestWhatAScriptSaysOfVariables(t *testing.T) {
	for text, want := range map[string]string{
		"export A=1":                        "exports A; sets; 1; holds 1",
		"export A; B=2":                     "sets",
		"export A=1; unset A":               "sets; 1",
		"export A=$(x)":                     "exports A; sets; $(x); holds *",
		"A=1 go build; A='2'":               "sets; 1 '2'; holds 2",
		"export B=1 A=$B; export B":         "exports B A; sets; $B; holds 1",
		"echo $A":                           "uses",
		`echo "$(echo ${A})"`:               "uses",
		"echo ${A:-1} '$A'":                 "",
		"for A in x; do :; done":            "sets; holds x",
		"read B":                            "sets",
		"if x; then export A=1; fi":         "exports A; sets; 1; holds *",
		"(export A=1)":                      "sets; 1",
		". ./env":                           "lost; holds *",
		"f() { export A=1; }; f; unset B":   "exports A; sets; 1; holds 1",
		"declare -x A=1; export -p; set -e": "sets; 1; holds 1",
	} {
		s := new(Scripts).Follow([]string{"sh", "-c", text}, nil, "/")
		var says []string
		say := func(is bool, what ...string) {
			if is {
				says = append(says, strings.Join(what, " "))
			}
		}
		exports := s.Exports()
		say(s.Lost, "lost")
		say(len(exports) > 0, append([]string{"exports"}, exports...)...)
		say(s.Uses("A"), "uses")
		say(s.Sets("A"), "sets")
		say(len(s.Assigned("A")) > 0, s.Assigned("A")...)
		say(!s.Value("A").Empty(), "holds", s.Value("A").Text)
		if got := strings.Join(says, "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestPlainIsAListOfCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"a":                  true,
		"a && b; c":          true,
		"A=1 a > b":          true,
		"cd x && export A=1": true,
		"test -f x && a":     false,
		"a || b":             false,
		"a | b":              false,
		"a &":                false,
		"! a":                false,
		"(a)":                false,
		"{ a; }":             false,
		"if a; then b; fi":   false,
		"sh -c 'a'":          false,
		"f() { a; }; f":      false,
	} {
		if s := new(Scripts).Follow([]string{"sh", "-c", text}, nil, "/"); s.Plain != want {
			t.Errorf("%s: %v", text, s.Plain)
		}
	}
}

func TestWhatACallIs(t *testing.T) {
	s := new(Scripts).Follow([]string{"sh", "-c", "a > b; if x; then c; fi; $(d) e; /usr/bin/f"}, nil, "/")
	var got []string
	for i := range s.Calls {
		c := &s.Calls[i]
		one := c.Name()
		if c.Writes {
			one += ">"
		}
		if c.Maybe {
			one += "?"
		}
		got = append(got, one)
	}
	if want := []string{"a>", "x", "c?", "", "f"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPathsFromDirectories(t *testing.T) {
	for _, c := range []struct {
		dir        Value
		file, want string
	}{
		{literal("/src"), "a/../b", "/src/b"},
		{literal("/src"), "/x/", "/x"},
		{Unknown(), "a", "*"},
		{Unknown(), "/a", "/a"},
	} {
		if got := c.dir.Path(c.file); got.Text != c.want || got.Open != (c.want == "*") || got.Pos != -1 {
			t.Errorf("%s in %s: got %+v", c.file, c.dir.Text, got)
		}
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
		s := new(Scripts).Follow([]string{"sh", "-c", text}, []string{env}, "/src")
		if s == nil {
			return
		}
		if len(s.Calls) > mostCommands {
			t.Errorf("%d calls", len(s.Calls))
		}
		for _, one := range s.Calls {
			if len(one.Args) == 0 || slices.ContainsFunc(one.Args, func(a Value) bool { return a.Pos > len(text) }) {
				t.Errorf("%+v", one)
			}
		}
	})
}
