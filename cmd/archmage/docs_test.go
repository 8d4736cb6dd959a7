package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
)

func tree() *cobra.Command { return newRoot(console.New(io.Discard, io.Discard)) }

// verbs are the subcommands that people see.
func verbs() []*cobra.Command {
	return slices.DeleteFunc(tree().Commands(), func(c *cobra.Command) bool {
		return c.Hidden || c.Name() == "help" || c.Name() == "completion" // of the command line alone
	})
}

func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.Name())
	}
	slices.Sort(names)
	return names
}

// TestReferenceIsWhatTheProgramSays compares docs/cli.md; UPDATE=1 writes it.
func TestReferenceIsWhatTheProgramSays(t *testing.T) {
	const file = "../../docs/cli.md"
	want := reference()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the program; write it with: UPDATE=1 go test ./cmd/archmage", file)
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("# Command line\n\n")
	b.WriteString("Generated from the program; write it anew with `make docs`.\n\n")
	b.WriteString(tree().Long + "\n\n")
	root := tree()
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "%s\n\n| verb | does |\n|---|---|\n", group.Title)
		for _, v := range root.Commands() {
			if v.GroupID == group.ID && v.Name() != "help" {
				fmt.Fprintf(&b, "| [`%s`](#archmage-%s) | %s |\n", v.Name(), v.Name(), cell(v.Short))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(everyVerb)
	for _, v := range append(verbs(), completionCommand()) {
		describeVerb(&b, v)
	}
	settingTables(&b)
	exitCodes(&b)
	return b.String()
}

// everyVerb is what is said of flags that all verbs take.
const everyVerb = "Every verb takes `-C`, `--chdir DIRECTORY`: the repository, where it is not the\n" +
	"working directory; and `-n`, `--dry-run`, which prints every command, file and\n" +
	"registry write that would happen, in order, and does none of them. What only\n" +
	"reads is done, since what follows depends on it: `go list`, git, asking docker and\n" +
	"registries. What is built has no digest then. With make: `make image\n" +
	"ARCHMAGE_ARGS=-n`.\n"

// describeVerb writes the section of one verb.
func describeVerb(b *strings.Builder, v *cobra.Command) {
	long := v.Long
	if long == "" {
		long = strings.ToUpper(v.Short[:1]) + v.Short[1:] + "."
	}
	fmt.Fprintf(b, "\n## archmage %s\n\n%s\n\n    %s\n", v.Name(), prose(long), useLine(v))
	if v.Example != "" {
		b.WriteString("\nExamples:\n\n")
		for line := range strings.Lines(v.Example) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
	var rows []string
	v.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			rows = append(rows, flagRow(f))
		}
	})
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| flag | variable | default | meaning |\n|---|---|---|---|\n%s", strings.Join(rows, ""))
	}
}

func useLine(v *cobra.Command) string {
	return "archmage " + strings.TrimPrefix(v.UseLine(), "archmage ")
}

func flagRow(f *pflag.Flag) string {
	name := "`--" + f.Name + "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	for _, v := range config.Variables() {
		if v.Flag() == f.Name && f.Value.Type() == "string" { // a flag of the verb's own may be called alike
			return fmt.Sprintf("| %s | `%s` | %s | %s |\n", name, v.Name, code(v.Default), cell(v.Doc))
		}
	}
	return fmt.Sprintf("| %s | | %s | %s |\n", name, code(f.DefValue), cell(f.Usage))
}

// settingTables writes the table of all settings.
func settingTables(b *strings.Builder) {
	b.WriteString("\n## Settings\n\nThe same name is a variable of make and of the environment; the flag is also the\nkey of `archmage.yaml`. A variable that is set but empty counts as unset,\n`IMAGE_PLATFORMS` excepted. What `archmage.yaml` can say, editors learn from its\nschema, [archmage.schema.json](archmage.schema.json).\n")
	group := config.Group("")
	for _, v := range config.Variables() {
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(b, "\n### %s\n\n| variable | flag | default | meaning |\n|---|---|---|---|\n", strings.ToUpper(string(group[:1]))+string(group[1:]))
		}
		name := "`" + v.Name + "`"
		if v.Alias != "" {
			name += " (`" + v.Alias + "`)"
		}
		fmt.Fprintf(b, "| %s | `--%s` | %s | %s |\n", name, v.Flag(), code(v.Default), cell(v.Doc))
	}
}

func exitCodes(b *strings.Builder) {
	b.WriteString("\n## Exit codes\n\n`make` turns each into 2 and `go run` into 1; `go tool archmage` keeps them.\n\n| code | meaning |\n|---|---|\n")
	for _, row := range []struct {
		code    int
		meaning string
	}{
		{build.ExitDone, "done"},
		{build.ExitFailed, "failed, or the answer is unknown: network, rate limit, 5xx"},
		{build.ExitUsage, "usage or configuration, a Dockerfile that does not parse too"},
		{build.ExitAbsent, "a leg, tag, image or base that had to exist does not"},
		{build.ExitFindings, "findings"},
		{build.ExitInterrupted, "interrupted"},
	} {
		fmt.Fprintf(b, "| %d | %s |\n", row.code, row.meaning)
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// prose is text of which indented lines are code.
func prose(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    ") {
			line = cell(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// cell is text for a cell of a table, where < would begin a tag.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(text) }

// A verb is spelt the same wherever one can type it.
func TestVerbsAreTheSameEverywhere(t *testing.T) {
	want := verbNames()
	if got := mageTargets(t); !slices.Equal(got, want) {
		t.Errorf("mage has %v, the program %v", got, want)
	}
	if got := makeVerbs(t); !slices.Equal(got, want) {
		t.Errorf("make has %v, the program %v", got, want)
	}
	for _, name := range want {
		if _, err := os.Stat(name + ".go"); err != nil {
			t.Errorf("%s has no file of its own: %v", name, err)
		}
	}
}

// What a verb takes beside settings is an optional argument of its target: mage
// knows no dashes in names, and no list of words behind them.
func TestMageTargetsTakeTheFlagsOfTheirVerb(t *testing.T) {
	words := map[string][]string{"inspect": {"ref"}, "audit": {"refs"}} // arguments of the verb
	got := mageArguments(t)
	for _, v := range verbs() {
		want := slices.Clone(words[v.Name()])
		v.LocalFlags().VisitAll(func(f *pflag.Flag) {
			setting := f.Value.Type() == "string" && strings.HasSuffix(f.Usage, ")") && strings.Contains(f.Usage, "(")
			each := slices.ContainsFunc(config.Variables(), func(v config.Variable) bool { return v.Each == f.Name })
			if !setting && !each && f.Name != "help" {
				want = append(want, strings.ReplaceAll(f.Name, "-", ""))
			}
		})
		slices.Sort(want)
		if !slices.Equal(got[v.Name()], want) {
			t.Errorf("mage %s takes %v, the verb %v", v.Name(), got[v.Name()], want)
		}
	}
}

// mageArguments are the optional arguments of each target, as mage spells them.
func mageArguments(t *testing.T) map[string][]string {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "../../build/targets/targets.go", nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[int]bool{} // lines with a comment
	for _, c := range file.Comments {
		documented[files.Position(c.Pos()).Line] = true
	}
	arguments := map[string][]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !f.Name.IsExported() {
			continue
		}
		var names []string
		for _, p := range f.Type.Params.List {
			if _, optional := p.Type.(*ast.StarExpr); optional {
				names = append(names, strings.ToLower(p.Names[0].Name))
				if len(p.Names) > 1 || !documented[files.Position(p.Pos()).Line] {
					t.Errorf("mage -h %s shows no line for %v", f.Name.Name, p.Names)
				}
			}
		}
		slices.Sort(names)
		arguments[strings.ToLower(f.Name.Name)] = names
	}
	return arguments
}

// mageTargets are the exported functions of build/targets, in lower case.
func mageTargets(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "../../build/targets/targets.go", nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			names = append(names, strings.ToLower(f.Name.Name))
			if !strings.HasPrefix(f.Doc.Text(), f.Name.Name+" ") {
				t.Errorf("mage -l shows no line for %s", f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

var makeRule = regexp.MustCompile(`(?m)^([a-z-]+):.*## .+\n\t(.+)$`)

// makeVerbs are the targets that call the program. Each is its name alone, with
// a line for make help.
func makeVerbs(t *testing.T) []string {
	data, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, rule := range makeRule.FindAllStringSubmatch(string(data), -1) {
		target, recipe := rule[1], rule[2]
		if !strings.Contains(recipe, "$(ARCHMAGE)") {
			continue
		}
		if recipe != "@$(ARCHMAGE) "+target {
			t.Errorf("make %s runs %q", target, recipe)
		}
		names = append(names, target)
	}
	if n := strings.Count(string(data), "$(ARCHMAGE)"); n != len(names) {
		t.Errorf("%d lines of the Makefile call the program, %d of them with help", n, len(names))
	}
	slices.Sort(names)
	return names
}

// What the help says of a setting is one line, and its flag is one word.
func TestEverySettingIsDocumented(t *testing.T) {
	flags := map[string]string{}
	for _, v := range config.Variables() {
		if v.Doc == "" || strings.ContainsAny(v.Doc, "\n") || strings.HasSuffix(v.Doc, ".") {
			t.Errorf("%s: %q is no line of help", v.Name, v.Doc)
		}
		if other, taken := flags[v.Flag()]; taken {
			t.Errorf("--%s is both %s and %s", v.Flag(), v.Name, other)
		}
		flags[v.Flag()] = v.Name
	}
	for _, v := range verbs() {
		v.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || len(f.Shorthand) > 1 {
				t.Errorf("%s --%s has no help", v.Name(), f.Name)
			}
		})
	}
}
