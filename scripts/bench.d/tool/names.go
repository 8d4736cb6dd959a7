package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// planned is the part of `archmage plan --json` that peers need.
type planned struct {
	Commands []struct{ Name, Dir string }
	Binaries []struct{ Command, Path string }
	Images   []struct {
		Name, Dockerfile, Context string
		Binaries                  []string
	}
	Legs []struct{ Image, Engine string }
}

// namesVerb makes lists that a shell reads of a plan on stdin: `names images`
// prints name, Dockerfile and context of each image that needs no RUN and is of
// a command of its own, which is what ko can build too; `names commands` their
// commands, name and directory. `names goenv PLATFORM` prints what the go command needs.
func namesVerb(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 2 && args[0] == "goenv" {
		p, err := platform.Parse(args[1])
		if err == nil {
			fmt.Fprintln(out, strings.Join(p.GoEnv(), " "))
		}
		return err
	}
	if len(args) != 1 {
		return errUsage
	}
	var p planned
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	for _, img := range p.Images {
		if !p.simple(img.Name, img.Binaries) {
			continue
		}
		switch args[0] {
		case "images":
			context := img.Context
			if context == "" {
				context = "."
			}
			fmt.Fprintln(out, img.Name, img.Dockerfile, context)
		case "commands":
			at := slices.IndexFunc(p.Commands, func(c struct{ Name, Dir string }) bool { return c.Name == img.Name })
			fmt.Fprintln(out, img.Name, p.Commands[at].Dir)
		default:
			return errUsage
		}
	}
	return nil
}

// simple reports whether the image holds the one command it is named after, and
// needs no engine.
func (p planned) simple(image string, binaries []string) bool {
	if len(binaries) != 1 || binaries[0] != image {
		return false
	}
	for _, leg := range p.Legs {
		if leg.Image == image && leg.Engine != "native" {
			return false
		}
	}
	return slices.ContainsFunc(p.Commands, func(c struct{ Name, Dir string }) bool { return c.Name == image })
}
