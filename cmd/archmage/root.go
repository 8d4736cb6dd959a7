package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// verb is one subcommand that works on a repository.
type verb struct {
	cobra.Command
	groups []config.Group // whose settings it takes as flags
	also   []string       // single settings of other groups
	reads  bool           // it builds nothing, so that its memory does not grow with images
	run    func(ctx context.Context, p *build.Project) error
}

func newRoot(c *console.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "archmage",
		Short: "multi-architecture images from cmd/* and Dockerfiles",
		Long: `archmage turns a Go repository's commands and its Dockerfiles into
multi-architecture container images, with no daemon and no emulation.

Every setting is a flag, a variable of the environment and a key of
archmage.yaml, in this order; see the flags of each command.`,
		SilenceUsage: true, SilenceErrors: true, DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // there is one of our own
		Args:              noArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return build.Usage("run archmage "+hintFor(cmd)+"--help for the flags", "%s", strings.TrimPrefix(err.Error(), "pflag: "))
	})
	dir := root.PersistentFlags().StringP("chdir", "C", "", "directory of the repository (default the working directory)")
	root.PersistentFlags().BoolP("dry-run", "n", false, "print every command, file and registry write, and do none of them")
	for _, v := range []verb{planVerb(), verifyVerb(), compileVerb(), imageVerb(), manifestVerb(), promoteVerb(), inspectVerb(), auditVerb(), binariesVerb(), initVerb(), cleanVerb()} {
		root.AddCommand(v.command(c, dir))
	}
	root.AddCommand(versionCommand(c), completionCommand())
	addGroups(root)
	return root
}

func hintFor(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Name() + " "
	}
	return ""
}

// noArgs refuses words that are no subcommand, with the nearest that are.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return build.Usage("choose with --what or WHAT=…", "%s: takes no arguments, got %q", cmd.Name(), args[0])
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	hint := "there are: " + strings.Join(names, ", ")
	if near := console.Nearest(args[0], names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return build.Usage(hint, "unknown command %q", args[0])
}

// command makes v runnable: flags are parsed, settings loaded and checked, and
// only then does its work begin.
func (v verb) command(c *console.Console, dir *string) *cobra.Command {
	cmd := v.Command
	values := map[string]*string{}
	for _, group := range append(slices.Clip(v.groups), config.GroupConsole) {
		addFlags(cmd.Flags(), values, func(v config.Variable) bool { return v.Group == group })
	}
	addFlags(cmd.Flags(), values, func(setting config.Variable) bool { return slices.Contains(v.also, setting.Name) })
	completeSettings(&cmd, dir)
	if cmd.ValidArgsFunction = cobra.NoFileCompletions; cmd.Args != nil { // REF
		cmd.ValidArgsFunction = completeReferences(dir)
	}
	if cmd.Args == nil {
		cmd.Args = noArgs
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if v.reads && os.Getenv("GOGC") == "" {
			// A seventh less CPU for 600 recipes, in 65 MB instead of 51.
			debug.SetGCPercent(200)
		}
		given := map[string]string{}
		for name, value := range values {
			variable, _ := config.Lookup(name)
			if cmd.Flags().Changed(variable.Flag()) {
				given[name] = *value
			}
			if variable.Each != "" {
				list, _ := cmd.Flags().GetStringArray(variable.Each)
				for _, entry := range list {
					given[name] = strings.TrimPrefix(given[name]+" "+config.Entry(entry), " ")
				}
			}
		}
		dry, _ := cmd.Flags().GetBool("dry-run") // verify has one of its own
		p, err := build.Open(cmd.Context(), config.Source{Root: *dir, Flags: given, Runner: run.OS{}, DryRun: dry}, c)
		if err != nil {
			return err
		}
		err = v.run(cmd.Context(), p)
		p.Close()
		if dry {
			c.Note("nothing was changed: this was a dry run")
		}
		return err
	}
	return &cmd
}

// addFlags adds a flag for each setting that belongs, with the variable and the
// default in its help.
func addFlags(flags *pflag.FlagSet, values map[string]*string, belongs func(config.Variable) bool) {
	for _, v := range config.Variables() {
		if !belongs(v) || flags.Lookup(v.Flag()) != nil { // the verb has one of its own
			continue
		}
		usage := fmt.Sprintf("%s (%s", strings.ReplaceAll(v.Doc, "`", ""), v.Name) // backquotes would name the value
		if v.Default != "" {
			usage += ", default " + v.Default
		}
		values[v.Name] = flags.String(v.Flag(), "", usage+")")
		if v.Bool {
			flags.Lookup(v.Flag()).NoOptDefVal = "true"
		}
		if v.Each != "" {
			flags.StringArray(v.Each, nil, fmt.Sprintf("one entry of --%s, taken as it is; can be given again", v.Flag()))
			flags.Lookup(v.Each).DefValue = ""
		}
	}
	flags.SortFlags = false
}

// The groups of verbs in help, by what people want to do.
const (
	groupSee     = "see"
	groupBuild   = "build"
	groupPublish = "publish"
	groupCheck   = "check"
	groupKeep    = "keep"
)

func addGroups(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupSee, Title: "See what there is:"},
		&cobra.Group{ID: groupBuild, Title: "Build:"},
		&cobra.Group{ID: groupPublish, Title: "Publish:"},
		&cobra.Group{ID: groupCheck, Title: "Check:"},
		&cobra.Group{ID: groupKeep, Title: "Set up and tidy up:"},
	)
	root.SetHelpCommandGroupID(groupKeep)
	root.InitDefaultHelpCmd()
	for _, sub := range root.Commands() {
		if sub.Name() == "help" {
			sub.Short = "print what a verb does, and its flags"
		}
	}
}

// allGroups are what a verb takes that does everything.
var allGroups = []config.Group{config.GroupWhat, config.GroupGo, config.GroupImage, config.GroupRegistry, config.GroupRun}
