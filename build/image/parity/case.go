package parity

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"
)

const defaultPlatforms = "linux/amd64 linux/arm64 linux/arm/v7 linux/386"

// Case is one Dockerfile build, written as a txtar archive. Its comment holds
// lines that start with # and directives, one a line:
//
//	platforms: linux/amd64 linux/arm64   default: these two
//	file: build/x/Dockerfile             default: Dockerfile
//	target: stage
//	arg: KEY=value                       as often as needed, like label:
//	pack: archive.tar.xz xz -9           shell command that packs an archive
//	refuses: text                        BuildKit must refuse, saying this
//
// Files are the context, with these exceptions: !context holds entries (see
// [Entry]) that are made after the others, NAME!tar is an archive of entries,
// NAME!base is a base image, pushed as BASE/NAME. In files called *Dockerfile,
// BASE/ stands for the registry and its namespace for this case or, where the case
// has no such base, the common one; URL/ for a web server with the context.
type Case struct {
	Name       string
	Platforms  []string
	Dockerfile string
	Target     string
	Args       []string
	Labels     []string
	Refuses    string // "" : the build succeeds; see AnyOutcome
	Source     []byte // the txtar text

	pack  map[string]string
	files []txtar.File
}

// AnyOutcome as Case.Refuses leaves it to BuildKit whether the build succeeds:
// for cases that nobody looked at.
const AnyOutcome = "*"

// ParseCase reads a case. The name is for messages and paths: letters, digits
// and _.
func ParseCase(name string, data []byte) (Case, error) {
	a := txtar.Parse(data)
	c := Case{
		Name: name, Source: data, Dockerfile: "Dockerfile", files: a.Files, pack: map[string]string{},
		Platforms: []string{"linux/amd64", "linux/arm64"},
	}
	for _, line := range specLines(string(a.Comment)) {
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "platforms":
			c.Platforms = strings.Fields(value)
		case "file":
			c.Dockerfile = value
		case "target":
			c.Target = value
		case "arg":
			c.Args = append(c.Args, value)
		case "label":
			c.Labels = append(c.Labels, value)
		case "refuses":
			c.Refuses = value
		case "pack":
			at, command, _ := strings.Cut(value, " ")
			c.pack[at] = command
		default:
			ok = false
		}
		if !ok {
			return c, fmt.Errorf("parse case %s: unknown directive %q", name, line)
		}
	}
	for _, f := range a.Files {
		if f.Name == c.Dockerfile {
			return c, nil
		}
	}
	return c, fmt.Errorf("parse case %s: no %s", name, c.Dockerfile)
}

// bases lists the base images that the case brings along: name and text.
func (c Case) bases() [][2]string {
	var out [][2]string
	for _, f := range c.files {
		if name, ok := strings.CutSuffix(f.Name, "!base"); ok {
			out = append(out, [2]string{name, string(f.Data)})
		}
	}
	return out
}

// places says what the placeholders of Dockerfiles stand for.
type places struct {
	common string // registry and namespace of common bases, with a slash
	own    string // those of the case
	url    string // web server
}

// fill replaces the placeholders in one Dockerfile.
func (c Case) fill(data []byte, p places) []byte {
	for _, b := range c.bases() {
		data = bytes.ReplaceAll(data, []byte("BASE/"+b[0]), []byte(p.own+b[0]))
	}
	data = bytes.ReplaceAll(data, []byte("BASE/"), []byte(p.common))
	return bytes.ReplaceAll(data, []byte("URL/"), []byte(p.url))
}
