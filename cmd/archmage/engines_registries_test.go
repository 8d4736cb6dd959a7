//go:build engines

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// registries are those that scripts/engines starts, by the variable that says
// where: distribution 2 as Debian has it, and distribution 3; and the project's
// own, which the test starts.
var registries = []struct {
	name, at string
	tls      bool // behind a password, with a certificate of a private CA
}{
	{"v2", "ENGINES_REGISTRY", false},
	{"v3", "ENGINES_REGISTRY3", false},
	{"v2-tls", "ENGINES_REGISTRY_TLS", true},
	{"v3-tls", "ENGINES_REGISTRY3_TLS", true},
	{"own", "", false},
}

// TestEnginesRegistries runs testdata/engines/registry/*.txtar against each of
// these; the scripts named login_* against those behind TLS alone, and own_*
// against archmage-registry. Besides what [TestEngines] sets, a script has
//
//	HOST            host:port of the registry
//	CA, LOGIN       certificate of the private CA, user:password; empty without TLS
//	DOCKER_CONFIG   a directory of its own, logged in where there is a login
//	SSL_CERT_FILE   CA
func TestEnginesRegistries(t *testing.T) {
	env, err := enginesEnv()
	if err != nil {
		t.Fatal(err)
	}
	hub, err := pushBases(t.Context(), os.Getenv("ENGINES_REGISTRY"))
	if err != nil {
		t.Fatal(err)
	}
	goenv, oras := goEnv(t, "GOCACHE", "GOMODCACHE", "GOROOT"), buildORAS(t)
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	var ran atomic.Int64
	t.Cleanup(func() { fmt.Printf("registries: %d, %d scripts\n", len(registries), ran.Load()) })
	for _, r := range registries {
		t.Run(r.name, func(t *testing.T) {
			files, err := filepath.Glob("testdata/engines/registry/*.txtar")
			if err != nil || len(files) == 0 {
				t.Fatalf("scripts: %q, %v", files, err)
			}
			if !r.tls {
				files = without(files, "login_")
			}
			at := os.Getenv(r.at)
			if r.at == "" {
				at = store(t, buildStore(t)).Host
			} else {
				files = without(files, "own_")
			}
			outside := t.TempDir()
			testscript.Run(t, testscript.Params{
				Files:               files,
				RequireExplicitExec: true,
				Setup: func(e *testscript.Env) error {
					ran.Add(1)
					name := filepath.Base(e.WorkDir)
					return errors.Join(
						setup(e, filepath.Join(outside, name), goenv),
						addEngines(e, append(env,
							"HOST="+at, "REGISTRY="+at+"/"+run+"/"+strings.TrimPrefix(name, "script-"),
							"IMAGE_MIRRORS=docker.io="+hub, "LOAD=false")),
						logIn(e, at, r.tls), plainHTTP(e, at), addORAS(e, oras))
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"exits": exits, "repo": makeRepository, "index": printIndex, "machine": checkMachine,
				},
			})
		})
	}
}

// without leaves out the files whose names begin so.
func without(files []string, prefix string) []string {
	var rest []string
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), prefix) {
			rest = append(rest, f)
		}
	}
	return rest
}

// logIn gives a script a docker config of its own, with the login for host.
func logIn(e *testscript.Env, host string, login bool) error {
	dir := filepath.Join(filepath.Dir(e.Getenv("HOME")), "client")
	config := "{}"
	e.Setenv("CA", "")
	e.Setenv("LOGIN", "")
	if login {
		e.Setenv("CA", os.Getenv("ENGINES_CA"))
		e.Setenv("LOGIN", os.Getenv("ENGINES_LOGIN"))
		e.Setenv("SSL_CERT_FILE", os.Getenv("ENGINES_CA"))
		config = fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(os.Getenv("ENGINES_LOGIN"))))
	}
	e.Setenv("DOCKER_CONFIG", dir)
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600))
}

// plainHTTP has a script's skopeo speak plain HTTP with one more registry than
// those that scripts/engines starts.
func plainHTTP(e *testscript.Env, host string) error {
	dir := filepath.Dir(e.Getenv("HOME"))
	conf := filepath.Join(dir, "registries.conf")
	text := fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", host)
	skopeo := filepath.Join(dir, "engines", "skopeo")
	program, err := os.Readlink(skopeo)
	if err != nil || strings.HasPrefix(host, os.Getenv("ENGINES_TLS_HOST")) {
		return err
	}
	return errors.Join(os.WriteFile(conf, text, 0o644), os.Remove(skopeo),
		os.WriteFile(skopeo, fmt.Appendf(nil, "#!/bin/sh\nexec %s --registries-conf %s \"$@\"\n", program, conf), 0o755))
}
