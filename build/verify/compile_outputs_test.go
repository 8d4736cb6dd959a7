package verify

import (
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/verify/shell"
)

func TestWhereGoWrites(t *testing.T) {
	s := newState(Subject{}, binaries{})
	for text, want := range map[string]string{
		"go build -o /out/app ./cmd/app":               "/out/app /out/app/app",
		"go build -o=bin/app .":                        "/src/bin/app /src/bin/app/src",
		"go build -o bin/ ./cmd/a ./cmd/b":             "/src/bin/a /src/bin/b",
		"go build -o bin ./...":                        "/src/bin/*",
		"go build":                                     "/src/src",
		"go build ./cmd/app/main.go":                   "/src/main",
		"go build -ldflags -s -tags x ./cmd/app":       "/src/app",
		"go build ./...":                               "",
		"go build -o /dev/null .":                      "",
		"go build -o $(x) .":                           "/src/* /src/*/src",
		"go -C /x build -o y .":                        "/x/y /x/y/x",
		"cd $(x) && go build -o y":                     "unknown",
		"cd $(x) && go build -o /y":                    "/y /y/*",
		"GOBIN=/b go install ./cmd/app":                "/b/app /b/linux_*/app",
		"GOPATH=/p:/q go install example.com/x/v2@v2":  "/p/bin/x /p/bin/linux_*/x",
		"go1.22.1 install example.com/x@latest":        "/go/bin/x /go/bin/linux_*/x /root/go/bin/x /root/go/bin/linux_*/x",
		"GOBIN=$(x) go install ./cmd/app":              "unknown",
		"garble -tiny build -o /out/app ./cmd/app":     "/out/app /out/app/app",
		"/usr/local/go/bin/go build -o /out/app ./cmd": "/out/app /out/app/cmd",
	} {
		texts := shell.Scripts{Hears: []string{"GOBIN", "GOPATH"}}
		script := texts.Follow([]string{"sh", "-c", text}, nil, "/src")
		if script == nil {
			t.Fatal(text)
		}
		calls := script.Calls
		got := "none"
		for i := range calls {
			if verb, args := goCommand(&calls[i]); verb != "" {
				files, ok := s.outputs(compilation{call: &calls[i], verb: verb, args: args})
				if got = strings.Join(files, " "); !ok {
					got = "unknown"
				}
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
