package config

import (
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

func runnersOf(s *Settings, platforms ...string) string {
	var labels []string
	for _, text := range platforms {
		p, err := platform.Parse(text)
		if err != nil {
			return err.Error()
		}
		labels = append(labels, s.Runner(p))
	}
	return strings.Join(labels, " ")
}

func TestTheMostSpecificRunnerWins(t *testing.T) {
	for value, want := range map[string]string{
		"":                                       "ubuntu-24.04 ubuntu-24.04 ubuntu-24.04-arm ubuntu-24.04 ubuntu-24.04",
		"linux/arm64=a":                          "ubuntu-24.04 ubuntu-24.04 a ubuntu-24.04 ubuntu-24.04",
		"linux/arm=v,default=d,linux/arm/v6=six": "d d d six v",
		"default=d amd64=a linux/amd64/v3=fast,arm=x":  "a fast d x x",
		"linux/aarch64=a linux/arm/v7=seven default=d": "d d a d seven",
		`"default=group:linux x64"`:                    "",
	} {
		s, err := load(t, "", map[string]string{"IMAGE_RUNNERS": value})
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", value)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", value, err)
		} else if got := runnersOf(s, "linux/amd64", "linux/amd64/v3", "linux/arm64", "linux/arm/v6", "linux/arm/v7"); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestRunnersThatAreNone(t *testing.T) {
	for value, want := range map[string]string{
		"ubuntu-24.04":                  `"ubuntu-24.04" is not PLATFORM=runner | e.g. default=ubuntu-24.04 linux/arm64=ubuntu-24.04-arm`,
		"default=":                      `"default=" is not PLATFORM=runner`,
		"=x":                            `"=x" is not PLATFORM=runner`,
		"armv7=x":                       `unknown architecture "armv7" | write linux/arm/v7`,
		"windows/amd64=x":               "images for windows are not supported",
		"linux/arm64/v8=x linux/arm64=": `is not PLATFORM=runner`,
		"default=a default=b":           `"default=b": there is another entry for that platform | leave one out`,
		"linux/arm64=x arm64=x":         "another entry",
		"default=${{secrets.X}}":        "is no label of a runner",
	} {
		_, err := load(t, "", map[string]string{"IMAGE_RUNNERS": value})
		if got := texts(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "--runners: ") || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
