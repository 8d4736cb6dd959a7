package verify

import (
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// BenchmarkCheck judges 500 Dockerfiles on six platforms, evaluated before.
func BenchmarkCheck(b *testing.B) {
	r := newRepo(b, []byte("platforms: linux/amd64 linux/arm64 linux/arm/v6 linux/arm/v7 linux/s390x linux/ppc64le\ncommands: app tool manager webhook\nelf: bin/probe amd64"),
		[]txtar.File{file(".dockerignore", "*\n!bin/\n!cmd\n!go.*\n"), file("Dockerfile", "FROM --platform=$BUILDPLATFORM golang:1.26 AS build\nWORKDIR /src\nARG TARGETARCH\nCOPY go.mod go.sum ./\nCOPY . .\n"+
			"RUN GOARCH=$TARGETARCH go build -o /out/app ./cmd/app\nFROM scratch\nARG TARGETARCH\nARG TARGETVARIANT\nCOPY --from=build /out/app /app\n"+
			"COPY bin/tool-linux-${TARGETARCH}${TARGETVARIANT} /tool\nENTRYPOINT [\"/app\"]\n")})
	s, err := r.subject(b, "app")
	if err != nil {
		b.Fatal(err)
	}
	subjects := make([]Subject, 500)
	for i := range subjects {
		subjects[i] = s
		subjects[i].Image = fmt.Sprint("app", i)
	}
	for b.Loop() {
		if got := Check(subjects, Options{}); len(got) != 0 {
			b.Fatal(got)
		}
	}
}
