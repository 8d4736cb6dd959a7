package dockerfile

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func warned(r *Recipe) []string {
	var list []string
	for _, w := range r.Warnings {
		list = append(list, w.Rule)
	}
	return list
}

func TestCheckIsReadAsBuildKitDoes(t *testing.T) {
	const body = "FROM scratch\nMAINTAINER me\nCMD a\n"
	both := []string{"MaintainerDeprecated", "JSONArgsRecommended"}
	for _, c := range []struct {
		name, text, arg string
		want            Check
		warns           []string
	}{
		{"nothing", body, "", Check{}, both},
		{"one", "# check=skip=MaintainerDeprecated\n" + body, "", Check{Skip: Skip{Rules: []string{"MaintainerDeprecated"}}}, both[1:]},
		{"several, of whom some are ours", "#check = skip=UnpinnedBase,JSONArgsRecommended;error=true\n" + body, "", Check{Skip{Rules: []string{"JSONArgsRecommended", "UnpinnedBase"}}, true}, both[:1]},
		{"a blank ends the value", "# check=skip=A, JSONArgsRecommended\n" + body, "", Check{Skip: Skip{Rules: []string{"", "A"}}}, both},
		{"all", "# syntax=docker/dockerfile:1\n# check=skip=all\n" + body, "", Check{Skip: Skip{All: true}}, nil},
		{"error", "# CHECK=error=true\n" + body, "", Check{Error: true}, both},
		{"error is off", "# check=error=false\n" + body, "", Check{}, both},
		{"names have a case", "# check=skip=maintainerdeprecated\n" + body, "", Check{Skip: Skip{Rules: []string{"maintainerdeprecated"}}}, both},
		{"after another comment it is one", "# a comment\n# check=skip=all\n" + body, "", Check{}, both[1:]},
		{"the argument stands in its place", "# check=skip=all\n" + body, "skip=JSONArgsRecommended;error=true", Check{Skip{Rules: []string{"JSONArgsRecommended"}}, true}, both[:1]},
		{"an empty argument too", "# check=skip=all;error=true\n" + body, " ", Check{}, both},
	} {
		in := input(t, c.text)
		if c.arg != "" {
			in.Args = map[string]string{"BUILDKIT_DOCKERFILE_CHECK": c.arg}
		}
		r := evaluate(t, in)
		if !reflect.DeepEqual(r.File.Check, c.want) {
			t.Errorf("%s: %+v", c.name, r.File.Check)
		}
		if c.name == "after another comment it is one" { // that of the FROM, which no warning stands on
			c.warns = both
		}
		if !slices.Equal(warned(r), c.warns) {
			t.Errorf("%s: warns %v", c.name, warned(r))
		}
	}
}

func TestSkipIsInTheCommentAboveAnInstruction(t *testing.T) {
	r := evaluate(t, input(t, `# a comment
# check=skip=A,B
# check=skip=C
ARG X

# check=skip=all

# another
FROM scratch
  # check=skip=D
COPY a /a
# check=skip=E
#
COPY b /b
COPY \
# check=skip=F
 c /c
# check=nonsense
# check=skip=G
COPY d /d
# check=error=true;skip=H
COPY e /e
`))
	var got []string
	for _, ins := range all(r.File) {
		got = append(got, ins.Text[:4]+" "+strings.Join(ins.Skip.Rules, ","))
		if ins.Skip.All {
			got = append(got, "all")
		}
	}
	want := []string{"ARG  A,B", "FROM ", "all", "COPY ", "COPY ", "COPY ", "COPY ", "COPY H"}
	if got[0] = strings.TrimSpace(got[0]); !slices.Equal(strings.Fields(strings.Join(got, " ")), strings.Fields(strings.Join(want, " "))) {
		t.Errorf("got %q", got)
	}
}

// The front end names the rules and no line; whoever has the recipe has both.
func TestErrorTrueStillMakesARecipe(t *testing.T) {
	r := evaluate(t, input(t, "# check=error=true\nFROM scratch\nCOPY $B /b\nCOPY $A /a"))
	if !r.File.Check.Error || !slices.Equal(warned(r), []string{"UndefinedVar", "UndefinedVar"}) || len(r.Ops) == 0 {
		t.Errorf("%+v, warns %v", r.File.Check, warned(r))
	}
}

func TestSuggestionsAreSteady(t *testing.T) {
	in := input(t, "ARG IMAGE_B=x\nARG IMAGE_A\nFROM ${IMAGE_C:-scratch}\n")
	for range 20 {
		r := evaluate(t, in)
		if len(r.Warnings) != 1 || r.Warnings[0].Message != "FROM argument 'IMAGE_C' is not declared (did you mean IMAGE_A?)" {
			t.Fatalf("%+v", r.Warnings)
		}
	}
}

func TestLintRulesAreAllThatBuildKitHas(t *testing.T) {
	pkg, err := build.Import("github.com/moby/buildkit/frontend/dockerfile/linter", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "ruleset.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			want = append(want, strings.TrimPrefix(v.Names[0].Name, "Rule"))
		}
		return true
	})
	slices.Sort(want)
	var got []string
	for _, r := range LintRules() {
		got = append(got, r.Name)
		if r.Description == "" || r.URL == "" && r.Name != "InvalidBaseImagePlatform" {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
