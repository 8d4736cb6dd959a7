package config

import (
	"strings"
	"testing"
)

func TestValuesSayWhereTheyAreFrom(t *testing.T) {
	s, err := load(t, "tags: [edge, nightly]\nout: out\nimages:\n  web:\n    dockerfile: web/Dockerfile\nverify:\n  severity:\n    A: off\n", map[string]string{"PUSH": "no"},
		"IMAGE_OUT=elsewhere", "PLATFORMS=linux/arm64", "CC_linux_arm64=gcc -q", "GITHUB_TOKEN=ghp_verysecret", "DOCKER_CONFIG=/x",
		`IMAGE_BUILD_ARGS=A=1,"NPM_TOKEN=a b" B=2`, "GOFLAGS=", "PUSH=true")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"IMAGE_TAGS": "edge nightly (archmage.yaml:1:7)", "IMAGE_OUT": "elsewhere (IMAGE_OUT in the environment)",
		"IMAGE_PLATFORMS": "linux/arm64 (PLATFORMS in the environment)", "CC_linux_arm64": "gcc -q (CC_linux_arm64 in the environment)",
		"IMAGE_BUILD_ARGS": "A=1 NPM_TOKEN=*** B=2 (IMAGE_BUILD_ARGS in the environment)", "GOFLAGS": "as set (default)",
		"images.web": "web/Dockerfile (archmage.yaml:4)", "verify.severity.A": "off (archmage.yaml:8:5)",
		"GITHUB_TOKEN": "*** (GITHUB_TOKEN in the environment)", "DOCKER_CONFIG": "/x (DOCKER_CONFIG in the environment)",
		"VERSION": "dev (default)", "PUSH": "no (--push)", "LOAD": "auto (default)",
	}
	values := s.Values()
	for _, v := range values {
		if text, ok := want[v.Name]; ok && text != v.Text+" ("+v.From+")" {
			t.Errorf("%s: %s (%s), want %s", v.Name, v.Text, v.From, text)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 || len(values) != len(variables)+5 {
		t.Errorf("%d values, without %v", len(values), want)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"a=1, b=2":                      "a=1, b=2",
		"-s -w -X main.v=1":             "-s -w -X main.v=1",
		"-X=main.Token=hush":            "-X=main.Token=***",
		"-s -X 'main.apiKey=hush hush'": "-s -X main.apiKey=***",
		"AWS_SECRET_ACCESS_KEY=hush":    "AWS_SECRET_ACCESS_KEY=***",
		`"PASSWORD=hush, hush" C=d`:     "PASSWORD=*** C=d",
		"DB_PASSWORD=hush=hush":         "DB_PASSWORD=***",
		`TOKEN="hush`:                   "***",
		"TOKEN=":                        "TOKEN=",
		"x=https://me:hush@host/x":      "x=https://***@host/x",
		"ghp_hushhushhushhush1 x":       "*** x",
		"two\nlines":                    `"two\nlines"`,
		"gcr.io=localhost:5000/gcr":     "gcr.io=localhost:5000/gcr",
		"SECRET=hush\nhush":             "SECRET=*** hush",
	} {
		got := shown(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"SECRET=hush", "A=1 'My-Credentials=hush'", "Authorization=hush"} {
		if strings.Contains(shown(text), "hush") {
			t.Errorf("%q: %q", text, shown(text))
		}
	}
}
