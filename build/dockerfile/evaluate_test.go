package dockerfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

const sample = `# syntax=docker/dockerfile:1
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum .
ARG TARGETARCH
RUN GOARCH=$TARGETARCH go build -o /out/app ./cmd/app

FROM gcr.io/distroless/static:nonroot
ARG TARGETARCH
COPY --link --from=build /out/app /app
COPY --chown=nonroot:0 --chmod=0755 bin/tool-linux-${TARGETARCH} conf/*.yaml /opt/
COPY <<EOF /etc/app.conf
arch=$TARGETARCH
EOF
ADD --checksum=sha256:1111111111111111111111111111111111111111111111111111111111111111 https://example.com/ca.pem /etc/ssl/
USER 65532
ENTRYPOINT ["/app"]
`

func TestRecipeIsGolden(t *testing.T) {
	in := Input{
		Context: tree(t, map[string]string{"cmd/app/Dockerfile": sample, ".dockerignore": "# no\n*.md\n!README.md\n"}), Dockerfile: "cmd/app/Dockerfile",
		Platform: arm64, BuildPlatform: platform.Platform{OS: "linux", Arch: "amd64"},
		Labels: map[string]string{"org.opencontainers.image.title": "app"}, Omit: []string{"dist"}, MultiPlatform: true,
		Bases: &shelf{images: map[string]ResolvedBase{"gcr.io/distroless/static:nonroot": imageOf(`{"User":"65532","WorkingDir":"/home/nonroot"}`)}},
	}
	r := evaluate(t, in)
	r.File.Data = nil // is the text above
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", "recipe.json")
	if os.Getenv("UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("recipe differs from %s; UPDATE=1 rewrites it. Got\n%s", golden, got)
	}
}

func TestConcurrentEvaluationsAgree(t *testing.T) {
	in := input(t, sample+"RUN --mount=from=other,target=/o x\nCOPY $UNDEFINED /u\nCOPY $OTHER $UNDEFINED /v\n")
	in.Args = map[string]string{"X": "1"}
	s := &shelf{}
	in.Bases = Memoise(s)
	want := evaluate(t, in)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			got, err := Evaluate(context.Background(), in)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("another recipe from the same input: %v", err)
			}
		})
	}
	wg.Wait()
	if len(s.asked) != 3 {
		t.Errorf("asked for %v", s.asked)
	}
}

func TestWarningsAreInFileOrderOnce(t *testing.T) {
	r := evaluate(t, input(t, "FROM scratch AS a\nCOPY $X $X $Y /x/\nMAINTAINER me\nCMD [\"a\"]\nCMD b\nFROM a as b\nENV A \\\n\n b\n"))
	var got []string
	for _, w := range r.Warnings {
		if w.URL == "" || w.Description == "" || len(w.Ranges) == 0 {
			t.Errorf("incomplete: %+v", w)
			continue
		}
		got = append(got, fmt.Sprintf("%d %s: %s", w.Ranges[0].Start.Line, w.Rule, w.Message))
	}
	want := []string{
		"2 UndefinedVar: Usage of undefined variable '$X'",
		"2 UndefinedVar: Usage of undefined variable '$Y'",
		"3 MaintainerDeprecated: Maintainer instruction is deprecated in favor of using label",
		"4 MultipleInstructionsDisallowed: Multiple CMD instructions should not be used in the same stage because only the last one will be used",
		"5 JSONArgsRecommended: JSON arguments recommended for CMD to prevent unintended behavior related to OS signals",
		"6 FromAsCasing: 'as' and 'FROM' keywords' casing do not match",
		`7 LegacyKeyValueFormat: "ENV key=value" should be used instead of legacy "ENV key value" format`,
		"9 NoEmptyContinuation: Empty continuation line",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSyntaxOfDockerIsOurs(t *testing.T) {
	for text, want := range map[string]string{
		"# syntax=docker/dockerfile":                               "",
		"# syntax=docker/dockerfile:1.7-labs":                      "",
		"#Syntax = docker.io/docker/dockerfile:1@" + someDigest:    "",
		"# escape=`\n# syntax=index.docker.io/docker/dockerfile:1": "",
		"# comment\n# syntax=example.com/other":                    "",
		"# syntax=example.com/docker/dockerfile:1":                 "example.com/docker/dockerfile:1",
		"# syntax=docker/dockerfile-upstream:master arg":           "docker/dockerfile-upstream:master",
		"// syntax=tonistiigi/x":                                   "tonistiigi/x",
		"\ufeff# syntax=a/b":                                       "a/b",
		"# syntax=NOT A REF":                                       "NOT",
	} {
		r := evaluate(t, input(t, text+"\nFROM scratch\nCOPY a /a\n"))
		if r.Syntax != want || (r.Config == nil) != (want != "") || r.Context.Whole != (want != "") {
			t.Errorf("%q: syntax %q, want %q; config %s", text, r.Syntax, want, r.Config)
		}
	}
	in := input(t, "# syntax=a/b\nFROM scratch\n")
	in.Args = map[string]string{"BUILDKIT_SYNTAX": "docker/dockerfile:1"}
	if r := evaluate(t, in); r.Syntax != "" {
		t.Errorf("the build argument does not win: %s", r.Syntax)
	}
	in.Args["BUILDKIT_SYNTAX"] = "c/d x"
	if r := evaluate(t, in); r.Syntax != "c/d" {
		t.Errorf("syntax %s, want the build argument's", r.Syntax)
	}
}

func TestNoHostIsAskedForAKey(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked <- c.LocalAddr().String()
			c.Close()
		}
	}()
	url := "ssh://git@" + l.Addr().String() + "/x.git"
	base := imageOf(`{"Env":["URL=` + url + `"],"OnBuild":["ADD $URL#main /x"]}`)
	for name, text := range map[string]string{
		"as written":                "FROM scratch\nADD " + url + " /x",
		"quoted":                    "FROM scratch\nADD [\"" + url + "\",\"/x\"]",
		"ARG":                       "FROM scratch\nARG U=" + url + "\nADD ${U} /x",
		"global ARG":                "ARG U=" + url + "\nFROM scratch\nARG U\nADD $U /x",
		"build argument":            "FROM scratch\nARG GIVEN\nADD $GIVEN /x",
		"ENV in pieces":             "FROM scratch\nENV S=ssh C=://\nENV U=$S$C\nADD ${U}git@" + l.Addr().String() + "/x.git /x",
		"parent stage":              "FROM scratch AS p\nENV U=" + url + "\nFROM p\nADD $U /x",
		"trigger of a stage":        "FROM scratch AS p\nONBUILD ADD " + url + " /x\nFROM p",
		"trigger of a base":         "FROM base",
		"environment of a base":     "FROM base2\nADD $URL /x",
		"stage that is copied from": "FROM scratch AS p\nADD " + url + " /x\nFROM scratch\nCOPY --from=p /x /x",
	} {
		in := input(t, text+"\n")
		in.Args = map[string]string{"GIVEN": url}
		in.Bases = &shelf{images: map[string]ResolvedBase{
			"docker.io/library/base:latest": base, "docker.io/library/base2:latest": imageOf(`{"Env":["URL=` + url + `"]}`),
		}}
		r := evaluate(t, in)
		if op, ok := r.NeedsEngine(); !ok || op.Kind != KindGit || !strings.HasPrefix(op.URL, url) || len(op.Ranges) != 1 || r.Config != nil {
			t.Errorf("%s: %+v", name, op)
		}
	}
	// What is not used, or is no git over ssh, is evaluated.
	for name, text := range map[string]string{
		"unused stage":      "FROM scratch AS x\nADD " + url + " /x\nFROM scratch",
		"file":              "FROM scratch\nARG F=a:b\nADD $F c:d /x/",
		"trigger of a base": "FROM base3",
	} {
		in := input(t, text+"\n")
		in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/base3:latest": imageOf(`{"OnBuild":["ADD $F /x"],"Env":["F=f"]}`)}}
		if r := evaluate(t, in); r.Config == nil {
			t.Errorf("%s was not evaluated", name)
		}
	}
	select {
	case at := <-asked:
		t.Errorf("somebody connected to %s", at)
	default:
	}
}
