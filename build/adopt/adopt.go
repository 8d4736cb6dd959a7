// Package adopt reads what a repository has and says what it lacks to be built
// by archmage: lines for files that are there, and files that are new. It writes
// nothing and starts nothing.
package adopt

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

// Module is archmage's own module, and Tool its command.
const (
	Module = "github.com/archmage-go/archmage"
	Tool   = Module + "/cmd/archmage"
	// Targets is the package of the Mage targets.
	Targets = Module + "/build/targets"
	// ToolsMod is the file of a repository's tools module: its requirements stay
	// out of the go.mod of the repository.
	ToolsMod = "tools/archmage.mod"
)

// Values are what the templates can name. They stand between [[ and ]], since
// make and GitHub have other braces of their own.
type Values struct {
	Go       bool     // the repository has a go.mod; else archmage is a program on PATH, with archmage.mk in scripts
	Own      bool     // archmage is a tool of that go.mod; else, where Go, of ToolsMod
	Registry string   // prefix of image names; "" where nobody knows
	Targets  []string // short make targets, of image and manifest; Some says that these are not all
	Some     bool
	Version  string // of archmage, to be fetched: a version, or latest
	Branch   string // default branch of the repository
	Schema   string // address of the JSON schema of archmage.yaml
	Images   []Image
	Alias    string // of the Mage targets; "" is none
}

//go:embed templates
var templates embed.FS

// The templates.
const (
	MakefileBlock   = "Makefile"
	ReleaseWorkflow = "release.yml"
	SettingsFile    = "archmage.yaml"
	MageFile        = "archmage.go.txt"
	MakefileLibrary = "archmage.mk" // as scripts/archmage.mk is, to the byte
)

// Render fills in a template. [MakefileLibrary] is none and stays as it is.
func Render(name string, v Values) ([]byte, error) {
	data, err := templates.ReadFile("templates/" + name)
	if err != nil || name == MakefileLibrary {
		return data, err
	}
	t, err := template.New(name).Delims("[[", "]]").Funcs(template.FuncMap{"join": strings.Join}).Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return out.Bytes(), nil
}
