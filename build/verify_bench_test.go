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

// BenchmarkVerify evaluates and judges 500 different Dockerfiles on six
// platforms, with two jobs: prebuilt, from source, and several stages.
func BenchmarkVerify(b *testing.B) {
	forms := []string{
		"FROM gcr.io/distroless/static:nonroot\nARG TARGETARCH\nARG TARGETVARIANT\nLABEL n=%[1]d\nCOPY bin/app-linux-${TARGETARCH}${TARGETVARIANT} /app\nUSER 65532:65532\nENTRYPOINT [\"/app\"]\n",
		"FROM --platform=$BUILDPLATFORM golang:1.26 AS build\nARG TARGETOS TARGETARCH\nWORKDIR /src\nCOPY go.mod go.sum ./\nRUN go mod download\nCOPY . .\nRUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -o /out/app%[1]d ./cmd/app\n" +
			"FROM scratch\nCOPY --from=build /out/app%[1]d /app\nENTRYPOINT [\"/app\"]\n",
		"FROM alpine:3.20 AS base\nRUN apk add --no-cache ca-certificates\nFROM base AS tools\nCOPY scripts/ /scripts/\nFROM base\nARG TARGETARCH\nARG TARGETVARIANT\nENV N=%[1]d\nCOPY --from=tools /scripts /scripts\n" +
			"COPY --chown=10:10 bin/app-linux-${TARGETARCH}${TARGETVARIANT} /usr/bin/app\nUSER 10\nENTRYPOINT [\"app\"]\nCMD [\"--n\", \"%[1]d\"]\n",
		"FROM debian:12-slim\nCOPY bin/app /app%[1]d\nCMD /app%[1]d\n",
	}
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
	write("cmd/app/main.go", "package main\n\nfunc main() {}\n")
	write("scripts/x.sh", "")
	write(".dockerignore", "*\n!bin\n!cmd\n!scripts\n!go.*\n")
	for i := range 500 {
		write(fmt.Sprintf("dockerfiles/app%d.Dockerfile", i), fmt.Sprintf(forms[i%len(forms)], i))
	}
	env := append(os.Environ(), "IMAGE_PLATFORMS=linux/amd64 linux/arm64 linux/arm/v6 linux/arm/v7 linux/s390x linux/ppc64le", "IMAGE_JOBS=2")
	p, err := Open(b.Context(), config.Source{Root: root, Env: env, Runner: run.OS{}}, console.New(io.Discard, io.Discard))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := p.Verify(b.Context(), VerifyOptions{Format: "json"}); ExitCode(err) != ExitFindings {
			b.Fatal(err)
		}
	}
}
