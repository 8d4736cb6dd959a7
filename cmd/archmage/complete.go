package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// tabTime is how long somebody waits who pressed the tabulator key.
const tabTime = 5 * time.Second

// listing gives what a flag or an argument can be completed to.
type listing func(ctx context.Context, p *build.Project) []build.Word

// completeSettings says what each setting of a verb is completed to.
func completeSettings(cmd *cobra.Command, dir *string) {
	lists := map[string]listing{
		"WHAT":              func(ctx context.Context, p *build.Project) []build.Word { return p.Names(ctx) },
		"IMAGE_PLATFORMS":   func(_ context.Context, p *build.Project) []build.Word { return p.ImagePlatforms() },
		"RELEASE_PLATFORMS": func(_ context.Context, p *build.Project) []build.Word { return p.ReleasePlatforms() },
	}
	for _, v := range config.Variables() {
		if cmd.Flags().Lookup(v.Flag()) == nil {
			continue
		}
		complete := cobra.NoFileCompletions
		switch {
		case lists[v.Name] != nil:
			complete = completeList(dir, lists[v.Name])
		case v.Values != nil:
			complete = cobra.FixedCompletions(v.Values, cobra.ShellCompDirectiveNoFileComp)
		case v.Name == "IMAGE_DIRS" || v.Name == "IMAGE_OUT":
			continue // paths
		}
		_ = cmd.RegisterFlagCompletionFunc(v.Flag(), complete) // fails where the verb has said it
	}
}

// completeFlag completes a flag of the verb's own to one of some words.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeList completes the last word of a list, separated by commas or blanks,
// to one that is not in it yet.
func completeList(dir *string, list listing) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndexAny(typed, ", ") + 1
		taken := strings.FieldsFunc(typed[:at], func(r rune) bool { return r == ',' || r == ' ' })
		var found []string
		for _, w := range ask(cmd.Context(), *dir, list) {
			if !slices.Contains(taken, w.Text) && strings.HasPrefix(w.Text, typed[at:]) {
				found = append(found, completion(typed[:at], w))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeReferences completes REF to what needs no registry to be known, and to
// files, which layouts may be anywhere.
func completeReferences(dir *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		var found []string
		list := func(ctx context.Context, p *build.Project) []build.Word { return p.References(ctx) }
		for _, w := range ask(cmd.Context(), *dir, list) {
			if !slices.Contains(args, w.Text) && strings.HasPrefix(w.Text, typed) {
				found = append(found, completion("", w))
			}
		}
		return found, cobra.ShellCompDirectiveDefault
	}
}

// completion is a word as cobra hands it to a shell.
func completion(before string, w build.Word) string {
	if w.About == "" {
		return before + w.Text
	}
	return cobra.CompletionWithDesc(before+w.Text, w.About)
}

// ask asks the repository, or nobody where its settings are wrong. Nobody reads
// notes there, and nothing is written.
func ask(ctx context.Context, dir string, list listing) []build.Word {
	ctx, cancel := context.WithTimeout(ctx, tabTime)
	defer cancel()
	p, err := build.Open(ctx, config.Source{Root: dir, Runner: run.OS{}, DryRun: true}, console.New(io.Discard, io.Discard))
	if err != nil {
		return list(ctx, nil)
	}
	defer p.Close()
	return list(ctx, p)
}

// completeSeverities completes --severity.
func completeSeverities(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, w := range build.Severities() {
		if strings.HasPrefix(w.Text, typed) {
			found = append(found, completion("", w))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
