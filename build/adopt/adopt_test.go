package adopt

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestTemplates(t *testing.T) {
	for _, name := range []string{MakefileBlock, ReleaseWorkflow, SettingsFile, MageFile, MakefileLibrary} {
		for _, v := range []Values{{}, {Go: true, Registry: "ghcr.io/x", Some: true, Targets: []string{"manifest"}, Images: []Image{{"a", "a/Dockerfile", "a"}}, Alias: "archmage"}} {
			data, err := Render(name, v)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), "<no value>") || bytes.Contains(data, []byte("\n\n\n")) || !bytes.HasSuffix(data, []byte("\n")) {
				t.Errorf("%s:\n%s", name, data)
			}
		}
	}
}

// What init adds to a Makefile is known again by its lines.
func TestTheBlockIsKnownAgain(t *testing.T) {
	for _, v := range []Values{{}, {Go: true}, {Go: true, Own: true}} {
		block, err := Render(MakefileBlock, v)
		if err != nil {
			t.Fatal(err)
		}
		m := ReadMakefile(fstest.MapFS{"Makefile": {Data: AddBlock(nil, block)}})
		if !m.Adopted || m.Tools != (v.Go && !v.Own) || len(m.Targets) > 0 || !bytes.Contains(block, []byte(Begin+"\n")) || !bytes.HasSuffix(block, []byte(End+"\n")) {
			t.Errorf("%+v\n%s", m, block)
		}
	}
}

// TestTheLibraryIsTheOneInScripts compares the copy that repositories without a
// tools module get; UPDATE=1 writes it.
func TestTheLibraryIsTheOneInScripts(t *testing.T) {
	want, err := os.ReadFile("../../scripts/archmage.mk")
	if err != nil {
		t.Fatal(err)
	}
	const file = "templates/archmage.mk"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Render(MakefileLibrary, Values{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) && os.Getenv("UPDATE") == "" {
		t.Errorf("%s differs from scripts/archmage.mk; write it with: UPDATE=1 go test ./build/adopt", file)
	}
}

func TestTheSettingsFileFitsItsSchema(t *testing.T) {
	data, err := Render(SettingsFile, Values{Schema: "https://example.com/x.json", Images: []Image{{"web", "services/web/Dockerfile", "services/web"}, {"a", "Dockerfile.a", ""}}})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../docs/archmage.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil || len(value["images"].(map[string]any)) != 2 {
		t.Errorf("%v\n%s", err, data)
	}
	if !bytes.HasPrefix(data, []byte("# yaml-language-server: $schema=https://example.com/x.json\n")) {
		t.Errorf("%s", data)
	}
}
