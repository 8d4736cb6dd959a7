package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/archmage-go/archmage/build/config"
)

// Every verb has examples, and each is a command that works: here they are dry
// runs, with a registry of this machine in place of ghcr.io.
func TestExamplesWork(t *testing.T) {
	w := newWorld(t)
	for _, v := range append(verbs(), completionCommand()) {
		lines := strings.Split(v.Example, "\n")
		if len(lines) < 2 && v.Name() != "version" {
			t.Errorf("%s has %d examples", v.Name(), len(lines))
		}
		for _, line := range lines {
			args, ok := strings.CutPrefix(line, "  archmage ")
			if !ok {
				t.Errorf("%s: %q is no example", v.Name(), line)
				continue
			}
			args = strings.ReplaceAll(args, "ghcr.io", "HOST")
			code, _, stderr := w.run("-n " + args)
			missing := code == 3 && (v.GroupID == groupSee || v.GroupID == groupPublish || v.GroupID == groupCheck) // nothing was built
			findings := code == 4 && v.Name() == "verify" || code == 4 && v.Name() == "image"                       // one Dockerfile is wrong
			if code != 0 && !missing && !findings {
				t.Errorf("archmage -n %s exits %d: %s", args, code, stderr)
			}
		}
	}
}

// Help shows each verb in a group, and of each setting its variable.
func TestHelpIsComplete(t *testing.T) {
	root := tree()
	for _, v := range root.Commands() {
		if !root.ContainsGroup(v.GroupID) {
			t.Errorf("%s is in group %q", v.Name(), v.GroupID)
		}
	}
	for _, v := range verbs() {
		v.LocalFlags().VisitAll(func(f *pflag.Flag) {
			setting := settingOf(f.Name)
			if f.Value.Type() != "string" || setting.Name == "" {
				return
			}
			if !strings.Contains(f.Usage, "("+setting.Name) || setting.Default != "" && !strings.Contains(f.Usage, "default "+setting.Default+")") {
				t.Errorf("%s --%s: %s", v.Name(), f.Name, f.Usage)
			}
			if name, _ := pflag.UnquoteUsage(f); name != "string" {
				t.Errorf("%s --%s takes a %q", v.Name(), f.Name, name)
			}
		})
	}
}

// settingOf is the setting that a flag is of.
func settingOf(flag string) (found config.Variable) {
	for _, v := range config.Variables() {
		if v.Flag() == flag {
			found = v
		}
	}
	return found
}
