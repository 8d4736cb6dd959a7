package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "../../docs/archmage.schema.json"

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

// shapes are the settings whose value is more than one word, or less: see $defs.
// All others are text.
var shapes = map[string]string{
	"IMAGE_PLATFORMS": "list", "WHAT": "list", "IMAGE_DIRS": "list", "RELEASE_PLATFORMS": "list", "IMAGE_TAGS": "list",
	"LDFLAGS": "list", "GOFLAGS": "list",
	"IMAGE_BUILD_ARGS": "pairs", "IMAGE_LABELS": "pairs", "IMAGE_ANNOTATIONS": "pairs", "IMAGE_MIRRORS": "pairs", "IMAGE_RUNNERS": "pairs",
	"CGO_ENABLED": "boolean", "PUSH": "boolean", "IMAGE_SBOM": "boolean",
	"SOURCE_DATE_EPOCH": "number", "IMAGE_RETRY_MAX": "number", "IMAGE_JOBS": "number",
	"IMAGE_RETRY_DELAY": "duration",
}

// choices are the words of settings that take no others.
var choices = map[string][]string{
	"IMAGE_ENGINE": {"auto", "native", "buildx", "buildah"}, "IMAGE_MEDIA_TYPES": {"oci", "docker"},
	"IMAGE_PROGRESS":    {"auto", "plain", "tty", "json"},
	"IMAGE_COMPRESSION": {"gzip", "zstd"}, "IMAGE_CACHE": {"auto", "none"},
}

// schema describes archmage.yaml, from the table of variables.
func schema() object {
	properties := object{"images": object{
		"description":          "what cannot be discovered, by image",
		"type":                 []string{"object", "null"},
		"propertyNames":        object{"pattern": "^" + strings.TrimSuffix(pathGrammar, `(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*`) + "$"},
		"additionalProperties": refer("image"),
	}}
	for _, v := range variables {
		if !v.noFile {
			properties[v.Flag()] = property(v)
		}
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     "https://raw.githubusercontent.com/archmage-go/archmage/main/docs/archmage.schema.json",
		"title":   "archmage.yaml", "description": "Settings of archmage, and what it cannot discover. Flags and the environment win over it.",
		"type": []string{"object", "null"}, "additionalProperties": false, "properties": properties, "$defs": definitions(),
	}
}

func refer(name string) object { return object{"$ref": "#/$defs/" + name} }

func property(v Variable) object {
	p := object{}
	switch {
	case v.Name == "IMAGE_VERIFY":
		p["anyOf"] = []object{refer("boolean"), refer("verify")}
	case v.Name == "LOAD":
		p["anyOf"] = []object{refer("boolean"), {"enum": []string{"auto"}}}
	case choices[v.Name] != nil:
		p["enum"] = append(asAny(choices[v.Name]), nil)
	case shapes[v.Name] != "":
		p = refer(shapes[v.Name])
	default:
		p = refer("text")
	}
	p["description"] = v.Doc + " (" + v.Name + ")"
	if v.Default != "" {
		p["description"] = v.Doc + " (" + v.Name + ", default " + v.Default + ")"
	}
	return p
}

func asAny(words []string) (list []any) {
	for _, w := range words {
		list = append(list, w)
	}
	return list
}

func definitions() object {
	words := []string{"string", "number", "boolean", "null"}
	many := object{"type": "array", "items": refer("text")}
	entries := object{"type": "object", "additionalProperties": refer("text")}
	items := object{"type": "array", "items": object{"type": "string"}}
	return object{
		"text":     object{"type": words},
		"list":     object{"anyOf": []object{refer("text"), many}},
		"pairs":    object{"anyOf": []object{refer("text"), many, entries}},
		"entries":  entries,
		"boolean":  object{"anyOf": []object{{"type": []string{"boolean", "null"}}, {"enum": []any{0, 1}}, {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|0|1|)$"}}},
		"number":   object{"anyOf": []object{{"type": []string{"integer", "null"}, "minimum": 0}, {"type": "string", "pattern": "^[0-9]*$"}}},
		"duration": object{"anyOf": []object{{"enum": []any{0, nil}}, {"type": "string", "pattern": "^(0|([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)?$"}}},
		"verify": object{
			"type": "object", "additionalProperties": false,
			"properties": object{"severity": object{
				"description": "how the findings of a rule count", "type": []string{"object", "null"},
				"additionalProperties": object{"enum": asAny(severities)},
			}},
		},
		"image": object{
			"type": []string{"object", "null"}, "additionalProperties": false,
			"properties": object{
				"dockerfile": described("text", "path from the root of the repository"),
				"context":    described("text", "directory that the Dockerfile copies from, from the root; default: the root"),
				"target":     described("text", "stage to build, default the last"),
				"build-args": described("entries", "build arguments"),
				"labels":     described("entries", "labels on top of the others"),
				"platforms":  described("list", "built where IMAGE_PLATFORMS has them too"),
				"tags":       described("list", "more shared tags"),
				"timeout":    object{"description": "longest time that one platform may take", "type": "string", "pattern": "^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$"},
				"secrets":    object{"description": "for engines, as buildx spells them: id=x,src=path", "type": items["type"], "items": items["items"]},
				"ssh":        object{"description": "for engines, as buildx spells them: default, or id=path", "type": items["type"], "items": items["items"]},
			},
		},
	}
}

func described(name, text string) object {
	r := refer(name)
	r["description"] = text
	return r
}

func schemaJSON(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSchemaIsWhatTheProgramReads compares docs/archmage.schema.json; UPDATE=1
// writes it.
func TestSchemaIsWhatTheProgramReads(t *testing.T) {
	want := schemaJSON(t)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs from the program (%v); write it with: UPDATE=1 go test ./build/config", schemaFile, err)
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("archmage.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("archmage.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate judges a file as an editor does.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// An editor says of a file what the program says.
func TestTheSchemaAgreesWithTheProgram(t *testing.T) {
	s := compileSchema(t)
	for _, tt := range []struct {
		text string
		good bool
	}{
		{"", true},
		{"# only a comment\n", true},
		{"images:\n", true},
		{"version: v1\nregistry: ghcr.io/x\n", true},
		{"version: 1.10\n", true},
		{"platforms: [linux/amd64, linux/arm64]\n", true},
		{"platforms: linux/amd64,linux/arm64\n", true},
		{"tags:\n  - edge\n  - nightly\n", true},
		{"push: no\nload: auto\ncgo-enabled: 1\nverify: false\n", true},
		{"load: true\n", true},
		{"verify: TRUE\n", true},
		{"verify:\n  severity:\n    EmulatedBuild: off\n", true},
		{"build-args: {A: 1, B: true}\nlabels: {a: b}\nmirrors: gcr.io=localhost:5000/gcr\n", true},
		{"runners: default=big linux/arm64=arm\n", true},
		{"runners:\n  default: big\n  linux/arm64: arm\n", true},
		{"labels: none\nannotations: [a=b]\n", true},
		{"jobs: 3\nretry-delay: 1m30s\nretry-max: 0\nsource-date-epoch: 0\n", true},
		{"jobs: '3'\n", true},
		{"engine: native\ncompression: zstd\nmedia-types: oci\ncache: none\n", true},
		{"engine:\n", true},
		{"ldflags: -s -w\nversion-pkg: example.com/m/version\n", true},
		{"images:\n  web:\n  api_v1.x:\n    dockerfile: a/Dockerfile\n    context: a\n    target: t\n    build-args: {A: 1}\n    labels: {x: y}\n    platforms: [linux/arm]\n    tags: edge\n    timeout: 1h30m\n    secrets: ['id=x,src=y']\n    ssh: [default]\n", true},

		{"nonsense: 1\n", false},
		{"force: true\n", false},
		{"- a\n", false},
		{"text\n", false},
		{"push: maybe\n", false},
		{"push: 2\n", false},
		{"load: sometimes\n", false},
		{"jobs: many\n", false},
		{"jobs: 1.5\n", false},
		{"jobs: -1\n", false},
		{"retry-delay: 5 minutes\n", false},
		{"engine: docker\n", false},
		{"compression: {a: b}\n", false},
		{"tags: [[a]]\n", false},
		{"verify: {severities: {}}\n", false},
		{"verify: {severity: {A: fatal}}\n", false},
		{"verify: {severity: [A]}\n", false},
		{"images: [web]\n", false},
		{"images:\n  Web:\n", false},
		{"images:\n  a/b:\n", false},
		{"images:\n  web: Dockerfile\n", false},
		{"images:\n  web:\n    dockerfil: x\n", false},
		{"images:\n  web:\n    timeout: soon\n", false},
		{"images:\n  web:\n    build-args: [A=1]\n", false},
		{"images:\n  web:\n    secrets: id=x\n", false},
	} {
		_, err := load(t, tt.text, nil)
		if (err == nil) != tt.good {
			t.Errorf("%q: the program says %v", tt.text, err)
		}
		if err := validate(t, s, tt.text); (err == nil) != tt.good {
			t.Errorf("%q: the schema says %v", tt.text, err)
		}
	}
}

// What the table gives words for, the program takes, and no others.
func TestChoicesOfTheSchemaAreTheProgram(t *testing.T) {
	for _, v := range variables {
		if words := choices[v.Name]; words != nil {
			for _, w := range words {
				if err := v.parse(defaults(""), w); err != nil {
					t.Errorf("%s=%s: %v", v.Name, w, err)
				}
			}
			if v.parse(defaults(""), "other") == nil {
				t.Errorf("%s takes any word", v.Name)
			}
		}
		if v.Bool && v.parse(defaults(""), "other") != nil && shapes[v.Name] != "boolean" && v.Name != "LOAD" && v.Name != "IMAGE_VERIFY" && !v.noFile {
			t.Errorf("%s is a boolean, and text in the schema", v.Name)
		}
	}
	for name := range shapes {
		if _, ok := Lookup(name); !ok {
			t.Errorf("there is no %s", name)
		}
	}
}

// This repository's own file, and the one that init writes, name the schema.
func TestOwnFileIsValid(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", FileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, compileSchema(t), string(data)); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(string(data), "# yaml-language-server: $schema=docs/archmage.schema.json\n") {
		t.Errorf("%s does not name its schema", FileName)
	}
}
