package plan

import (
	"errors"
	"strings"
	"testing"
)

func TestSelectByNameOrDirectory(t *testing.T) {
	images := []Image{
		{Name: "a", Dockerfile: "cmd/a/Dockerfile"},
		{Name: "b", Dockerfile: "dockerfiles/b.Dockerfile"},
		{Name: "c", Dockerfile: "dockerfiles/c/Dockerfile"},
		{Name: "tool", Dockerfile: "Dockerfile"},
		{Name: "tool-debug", Dockerfile: "Dockerfile"},
	}
	commands := []Command{{Name: "a", Dir: "cmd/a"}, {Name: "deep", Dir: "cmd/group/deep"}, {Name: "prog", Dir: "."}}
	for what, want := range map[string]string{
		"":                                       "a b c tool tool-debug / a deep prog /",
		"a":                                      "a / a /",
		"cmd/a":                                  "a / a /",
		"./cmd/a/":                               "a / a /",
		"cmd/a/Dockerfile":                       "a / / cmd/a/Dockerfile",
		"c b":                                    "b c / / c b",
		"dockerfiles":                            "/ / dockerfiles",
		"dockerfiles/c dockerfiles/b.Dockerfile": "b c / / dockerfiles/c dockerfiles/b.Dockerfile",
		".":                                      "/ / .",
		"Dockerfile":                             "tool tool-debug / / Dockerfile",
		"deep cmd/group/deep":                    "/ deep /",
		"group cmd/group":                        "/ / group cmd/group",
		"prog":                                   "/ prog /",
		"A":                                      "/ / A",
		"../cmd/a":                               "/ / ../cmd/a",
	} {
		words := strings.Fields(what)
		chosen, rest := SelectImages(images, words)
		var got []string
		for _, i := range chosen {
			got = append(got, i.Name)
		}
		left, unknown := SelectCommands(commands, words)
		got = append(got, "/")
		for _, c := range left {
			got = append(got, c.Name)
		}
		got = append(append(got, "/"), unknown...)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("WHAT=%q: %s, want %s", what, text, want)
		}
		if len(chosen)+len(rest) < len(words) && what != "" && !strings.Contains(what, "Dockerfile") && what != "deep cmd/group/deep" {
			t.Errorf("WHAT=%q: %v and %v", what, chosen, rest)
		}
	}
}

func TestUnknownNamesTheNearest(t *testing.T) {
	images, commands := []Image{{Name: "manager"}, {Name: "webhook"}}, []Command{{Name: "manager"}, {Name: "fleetctl"}}
	for word, hint := range map[string]string{
		"managr":         "did you mean manager?",
		"cmd/webhok/":    "did you mean webhook?",
		"fleet":          "did you mean fleetctl?",
		"something-else": "there are: manager, webhook, fleetctl",
	} {
		err := Unknown([]string{word}, images, commands)
		var u *UsageError
		if !errors.As(err, &u) || u.Hint() != hint || err.Error() != "WHAT "+word+": no image and no command of this name" {
			t.Errorf("%s: %v, %q", word, err, u.Hint())
		}
	}
	if err := Unknown([]string{"x", "y"}, nil, nil); err == nil || strings.Count(err.Error(), "WHAT ") != 2 || !strings.Contains(hintText(err), "no images and no commands") {
		t.Errorf("%v", err)
	}
}

func hintText(err error) string {
	var u *UsageError
	errors.As(err, &u)
	return u.Hint()
}
