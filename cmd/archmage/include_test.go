package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/config"
)

const include = "../../scripts/archmage.mk"

// ecosystem are variables that archmage reads and that are no settings of its
// own.
var ecosystem = []string{
	"NO_COLOR", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GOCACHEPROG",
}

func handedOn() []string {
	var names []string
	for _, v := range config.Variables() {
		names = append(names, v.Name)
		if v.Alias != "" {
			names = append(names, v.Alias)
		}
	}
	return append(names, ecosystem...)
}

// TestIncludeHasEveryVerbAndVariable compares the lists in archmage.mk with the
// program; UPDATE=1 writes them.
func TestIncludeHasEveryVerbAndVariable(t *testing.T) {
	data, err := os.ReadFile(include)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "# begin generated\n", "# end generated\n"
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s: no place for the lists", include)
	}
	want := before + begin + words("archmage.verbs", verbNames()) + words("archmage.variables", handedOn()) + end + after
	if want == string(data) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s differs from the program; write it with: UPDATE=1 go test ./cmd/archmage", include)
	}
	if err := os.WriteFile(include, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words is a list as a variable of make, four to a line.
func words(name string, list []string) string {
	var b strings.Builder
	b.WriteString(name + " :=")
	for line := range slices.Chunk(list, 4) {
		b.WriteString(" \\\n  " + strings.Join(line, " "))
	}
	return b.String() + "\n"
}

// newer is what GNU make 3.81 does not know, or takes for something else.
var newer = regexp.MustCompile(`\$\((file|guile|let|intcmp) |\$[({]\.SHELLSTATUS|!=|::|\bundefine\b|\bprivate\b|^-?load\b|\.(ONESHELL|SHELLFLAGS|RECIPEPREFIX|EXTRA_PREREQS|NOTPARALLEL:.|WAIT)|^\s*define\s+\S+\s*\S*=|^\s*(un)?export\s*$`)

// swallows is what hides that a command of a recipe failed.
var swallows = regexp.MustCompile(`^\t@?-|\|\||\b(for|while|until)\b|;|\s&\s|\btrue\b`)

// TestIncludeIsForOldMakes holds what a recipe and the syntax must not have; a
// script runs the file, with whatever make there is.
func TestIncludeIsForOldMakes(t *testing.T) {
	data, err := os.ReadFile(include)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if found := newer.FindString(line); found != "" {
			t.Errorf("%s:%d: %q is newer than make 3.81", include, i+1, found)
		}
		if found := swallows.FindString(line); found != "" {
			t.Errorf("%s:%d: %q can swallow a failure", include, i+1, found)
		}
	}
}

// A rule that finds nothing is no rule.
func TestIncludeRulesFindWhatTheyAreFor(t *testing.T) {
	for _, line := range []string{"x := $(file <y)", "x != date", "x ::= y", ".ONESHELL:", ".SHELLFLAGS = -ec", "define f =", "undefine x", "a: private b = c", "export"} {
		if !newer.MatchString(line) {
			t.Errorf("%q passes as syntax of make 3.81", line)
		}
	}
	for _, line := range []string{"\t-archmage image", "\t@-archmage image", "\tarchmage image || true", "\tfor a in x; do archmage image; done", "\tarchmage image; archmage manifest", "\tarchmage image & wait"} {
		if !swallows.MatchString(line) {
			t.Errorf("%q passes as a recipe that swallows nothing", line)
		}
	}
}

// echoMain prints how it was called: its directory, its arguments, and of the
// environment what archmage.mk hands on, one per line as Go spells strings.
func echoMain() {
	dir, _ := os.Getwd()
	fmt.Printf("%s %q\n", filepath.Base(dir), os.Args[1:])
	env := os.Environ()
	slices.Sort(env)
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(handedOn(), name) && name != "NO_COLOR" && name != "GOFLAGS" || strings.HasPrefix(name, "CC_") {
			fmt.Printf("%s=%q\n", name, value)
		}
	}
	if os.Getenv("EXIT") != "" && strings.Contains(os.Getenv("EXIT"), os.Args[1]) {
		os.Exit(3)
	}
}
