package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed all:fleet
var templates embed.FS

// fleetPlatforms are what a fleet may be built for, the usual ones first.
var fleetPlatforms = []string{
	"linux/amd64", "linux/arm64", "linux/arm/v7", "linux/386",
	"linux/ppc64le", "linux/s390x", "linux/riscv64", "linux/loong64",
}

// fleet is a repository of commands, each with an image.
type fleet struct {
	Commands  []string
	Platforms []string
	Base      string // of every image
	Imports   string // k8s, http or none: what decides the size of a binary
}

// fleetVerb writes a fleet into a directory that is empty or not there.
func fleetVerb(args []string) error {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	commands := flags.Int("commands", 8, "commands, each with an image")
	platforms := flags.Int("platforms", 2, "platforms, up to 8")
	f := fleet{}
	flags.StringVar(&f.Base, "base", "scratch", "base image; ko cannot use scratch")
	flags.StringVar(&f.Imports, "imports", "k8s", "what commands import: k8s, http or none")
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return errors.New("usage: scripts/bench fleet DIR [--commands N] [--platforms N] [--base REF] [--imports k8s|http|none]")
	}
	dir := args[0]
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *commands < 1 || *platforms < 1 || *platforms > len(fleetPlatforms) || flags.NArg() > 0 {
		return fmt.Errorf("fleet: at least one command, and 1 to %d platforms", len(fleetPlatforms))
	}
	if !slices.Contains([]string{"k8s", "http", "none"}, f.Imports) {
		return fmt.Errorf("fleet: imports are k8s, http or none, not %q", f.Imports)
	}
	f.Platforms = fleetPlatforms[:*platforms]
	for n := range *commands {
		f.Commands = append(f.Commands, fmt.Sprintf("service-%03d", n+1))
	}
	return f.write(dir)
}

func (f fleet) write(dir string) error {
	if found, err := os.ReadDir(dir); err == nil && len(found) > 0 {
		return fmt.Errorf("fleet: %s is not empty", dir)
	}
	sub, err := fs.Sub(templates, "fleet")
	if err != nil {
		return err
	}
	set, err := template.ParseFS(sub, "*.tmpl")
	if err != nil {
		return err
	}
	for _, t := range set.Templates() {
		name := strings.ReplaceAll(strings.TrimSuffix(t.Name(), ".tmpl"), "__", "/")
		if err := f.render(t, dir, name); err != nil {
			return fmt.Errorf("fleet: %w", err)
		}
	}
	return nil
}

// render writes a template, once for each command where its name says so.
func (f fleet) render(t *template.Template, dir, name string) error {
	if !strings.Contains(name, "COMMAND") {
		return writeTemplate(t, filepath.Join(dir, name), f)
	}
	for _, command := range f.Commands {
		data := struct {
			fleet
			Name string
		}{f, command}
		if err := writeTemplate(t, filepath.Join(dir, strings.ReplaceAll(name, "COMMAND", command)), data); err != nil {
			return err
		}
	}
	return nil
}

func writeTemplate(t *template.Template, to string, data any) error {
	var text strings.Builder
	if err := t.Execute(&text, data); err != nil {
		return err
	}
	if strings.TrimSpace(text.String()) == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(text.String()), 0o644)
}

// Targets are the platforms as GoReleaser spells them.
func (f fleet) Targets() []string {
	var list []string
	for _, p := range f.Platforms {
		list = append(list, strings.NewReplacer("/v7", "_7", "/", "_").Replace(p))
	}
	return list
}
