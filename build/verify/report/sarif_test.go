package report

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify"
)

// sarifSchema is the standard's schema, as go-sarif has it in its source.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	pkg, err := build.Import("github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err = strconv.Unquote(l.Value)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// odd is a finding whose every text has what a format may stumble over.
func odd() verify.Finding {
	const text = "a b%20c:d,e\r\n::error::x\x1b[31m\u009b\"é☃\xff<&>##[error]"
	return verify.Finding{
		Rule: "TargetArchUndeclared", Severity: verify.Error, File: "dir:x/" + text + "/Dockerfile", Image: text, Message: text, Fix: text,
		Start: dockerfile.Position{Line: 2, Column: 3}, End: dockerfile.Position{Line: 2, Column: 9},
		Platforms: []platform.Platform{{OS: "linux", Arch: "arm", Variant: "v7"}}, URL: "https://example.com/rule.md",
	}
}

func everyRule() []verify.Finding {
	var list []verify.Finding
	for i, r := range sarifRules() {
		f := odd()
		f.Rule, f.Severity, f.URL = r.ID, verify.Warning, r.HelpURI
		f.Start.Line, f.End.Line = i+1, i+2
		list = append(list, f)
	}
	return list
}

func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	found, _ := check(t, "FROM scratch as a\nCOPY bin/app /app\nMAINTAINER x\n", "linux/arm64")
	if len(found) != 3 {
		t.Fatalf("findings %+v", found)
	}
	for name, findings := range map[string][]verify.Finding{"none": nil, "some": found, "odd": {odd()}, "every rule": everyRule()} {
		for _, version := range []string{"", "v1.2.3-dirty"} {
			var out, again bytes.Buffer
			if err := SARIF(&out, findings, version); err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
			if err == nil {
				err = schema.Validate(doc)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			report, err := sarif.FromBytes(out.Bytes())
			if err != nil || len(report.Runs) != 1 || len(report.Runs[0].Results) != len(findings) {
				t.Errorf("%s: another reader finds %+v, %v", name, report, err)
			}
			for i, f := range findings { // the schema of this draft knows no format for them
				uri := *report.Runs[0].Results[i].Locations[0].PhysicalLocation.ArtifactLocation.URI
				if u, err := url.Parse(uri); err != nil || u.IsAbs() || path.Clean(u.Path) != f.File {
					t.Errorf("%s: %q is not the place of %q", name, uri, f.File)
				}
			}
			if _ = SARIF(&again, findings, version); !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Errorf("%s: twice is not the same", name)
			}
		}
	}
}

// What is no SARIF is noticed.
func TestSARIFSchemaIsStrict(t *testing.T) {
	schema := sarifSchema(t)
	var out bytes.Buffer
	if err := SARIF(&out, []verify.Finding{odd()}, ""); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"level": "error"`, `"level": "fatal"`},
		{`"startLine": 2`, `"startLine": 0`},
		{`"ruleId"`, `"rule"`},
		{`"runs"`, `"run"`},
	} {
		text := strings.Replace(out.String(), change[0], change[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil || text == out.String() {
			t.Fatalf("%v: %v", change, err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%v is valid", change)
		}
	}
}

func TestSARIFSaysWhatIsWhere(t *testing.T) {
	findings := []verify.Finding{odd()}
	findings[0].File, findings[0].Message, findings[0].Image, findings[0].Fix = "a:b/ü c%.Dockerfile", "m", "app,worker", ""
	var out bytes.Buffer
	if err := SARIF(&out, findings, "v1"); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(out.String(), `      "results": `)
	want := `[
        {
          "ruleId": "TargetArchUndeclared",
          "ruleIndex": INDEX,
          "level": "error",
          "message": {
            "text": "m"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "./a:b/%C3%BC%20c%25.Dockerfile",
                  "uriBaseId": "%SRCROOT%"
                },
                "region": {
                  "startLine": 2,
                  "startColumn": 3,
                  "endLine": 2,
                  "endColumn": 9
                }
              }
            }
          ],
          "properties": {
            "image": "app,worker",
            "platforms": [
              "linux/arm/v7"
            ]
          }
        }
      ]
    }
  ]
}
`
	index := 0
	for i, r := range sarifRules() {
		if r.ID == "TargetArchUndeclared" {
			index = i
		}
	}
	if want = strings.Replace(want, "INDEX", strconv.Itoa(index), 1); got != want {
		t.Errorf("got %s", got)
	}
	rule := `
            {
              "id": "TargetArchUndeclared",
              "name": "TargetArchUndeclared",
              "shortDescription": {
                "text": "A COPY path has a hole: its platform variable has no ARG in this stage"
              },
              "helpUri": "https://github.com/archmage-go/archmage/blob/main/docs/rules/TargetArchUndeclared.md",
              "defaultConfiguration": {
                "enabled": true,
                "level": "error"
              }
            },`
	if !strings.Contains(out.String(), rule) || !strings.Contains(out.String(), `"version": "v1",`) {
		t.Errorf("got %s", out.String())
	}
}
