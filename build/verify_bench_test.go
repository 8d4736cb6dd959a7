package build

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// benchForms are Dockerfiles of an image: prebuilt, from source, of several
// stages, and one that is wrong.
var benchForms = []string{
	"FROM gcr.io/distroless/static:nonroot\nARG TARGETARCH\nARG TARGETVARIANT\nLABEL n=%[1]d\nCOPY bin/app%[2]s-linux-${TARGETARCH}${TARGETVARIANT} /app\nUSER 65532:65532\nENTRYPOINT [\"/app\"]\n",
	"FROM --platform=$BUILDPLATFORM golang:1.26 AS build\nARG TARGETOS TARGETARCH\nWORKDIR /src\nCOPY go.mod go.sum ./\nRUN go mod download\nCOPY . .\nRUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -o /out/app%[1]d ./cmd/app%[2]s\n" +
		"FROM scratch\nCOPY --from=build /out/app%[1]d /app\nENTRYPOINT [\"/app\"]\n",
	"FROM alpine:3.20 AS base\nRUN apk add --no-cache ca-certificates\nFROM base AS tools\nCOPY scripts/ /scripts/\nFROM base\nARG TARGETARCH\nARG TARGETVARIANT\nENV N=%[1]d\nCOPY --from=tools /scripts /scripts\n" +
		"COPY --chown=10:10 bin/app%[2]s-linux-${TARGETARCH}${TARGETVARIANT} /usr/bin/app\nUSER 10\nENTRYPOINT [\"app\"]\nCMD [\"--n\", \"%[1]d\"]\n",
	"FROM debian:12-slim\nCOPY bin/app%[2]s /app%[1]d\nCMD /app%[1]d\n",
}

// benchProject is a repository of so many images on six platforms, all of one
// command, or each of its own.
func benchProject(b *testing.B, images int, own bool) *Project {
	b.Helper()
	root := b.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.21\n")
	write("go.sum", "")
	write("scripts/x.sh", "")
	write(".dockerignore", "*\n!bin\n!cmd\n!scripts\n!go.*\n")
	for i := range images {
		command := ""
		if own {
			command = fmt.Sprint(i)
		}
		write("cmd/app"+command+"/main.go", "package main\n\nfunc main() {}\n")
		write(fmt.Sprintf("dockerfiles/app%d.Dockerfile", i), fmt.Sprintf(benchForms[i%len(benchForms)], i, command))
	}
	env := append(os.Environ(), "IMAGE_PLATFORMS=linux/amd64 linux/arm64 linux/arm/v6 linux/arm/v7 linux/s390x linux/ppc64le", "IMAGE_JOBS=2")
	p, err := Open(b.Context(), config.Source{Root: root, Env: env, Runner: run.OS{}}, console.New(io.Discard, io.Discard))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkVerify evaluates and judges 500 different Dockerfiles, with two jobs.
func BenchmarkVerify(b *testing.B) {
	p := benchProject(b, 500, false)
	for b.Loop() {
		if err := p.Verify(b.Context(), VerifyOptions{Format: "json"}); ExitCode(err) != ExitFindings {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlanAndVerify is both verbs on 100 images, each of a command of its
// own.
func BenchmarkPlanAndVerify(b *testing.B) {
	p := benchProject(b, 100, true)
	for b.Loop() {
		if err := p.Plan(b.Context(), PlanOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := p.Verify(b.Context(), VerifyOptions{}); ExitCode(err) != ExitFindings {
			b.Fatal(err)
		}
	}
}
