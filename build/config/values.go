package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Value is one setting of a run, for people.
type Value struct {
	Name string
	Text string // as it was written, or the default; secrets are ***
	From string // e.g. --tags, IMAGE_TAGS in the environment, archmage.yaml:3:7, git describe, default
}

const byDefault = "default"

// Values lists every setting with where its value came from: in the order of the
// reference, then compilers, what archmage.yaml says of images and rules, and
// credentials, which are never shown. Of a setting that another one follows, the
// default says so.
func (s *Settings) Values() []Value {
	var list []Value
	for _, v := range variables {
		list = append(list, s.value(v))
	}
	for _, name := range slices.Sorted(maps.Keys(s.From)) {
		if strings.HasPrefix(name, "CC_") {
			list = append(list, Value{name, shown(s.given[name]), s.From[name]})
		}
	}
	for _, img := range s.Images {
		list = append(list, Value{"images." + img.Name, img.Dockerfile, fmt.Sprintf("%s:%d", FileName, img.Line)})
	}
	for _, sev := range s.Severities {
		list = append(list, Value{"verify.severity." + sev.Rule, sev.Value, sev.Where})
	}
	for _, c := range []Value{
		{"DOCKER_CONFIG", s.Auth.DockerConfig, ""},
		{"REGISTRY_AUTH_FILE", s.Auth.AuthFile, ""},
		{"GITHUB_TOKEN", strings.Repeat(masked, min(1, len(s.Auth.GitHubToken))), ""},
	} {
		if c.Text != "" {
			list = append(list, Value{c.Name, c.Text, c.Name + " in the environment"})
		}
	}
	return list
}

func (s *Settings) value(v Variable) Value {
	from := s.From[v.Name]
	switch {
	case from != "":
		return Value{v.Name, shown(s.given[v.Name]), from}
	case v.Name == "VERSION" && s.Commit.Revision != "":
		return Value{v.Name, s.Version, "git describe"}
	case v.Name == "VERSION":
		return Value{v.Name, s.Version, byDefault}
	}
	return Value{v.Name, v.Default, byDefault}
}

const masked = "***"

var (
	// secretEntry is NAME=value, as build arguments and -X have it, with a name
	// that says that the value is nobody's business.
	secretEntry = regexp.MustCompile(`(?is)^(.*(?:token|passw|passphrase|secret|key|credential|auth)[^=]*)=.+$`)
	// knownToken are tokens that can be told by their form.
	knownToken = regexp.MustCompile(`gh[opsur]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}`)
	// userInfo is what a URL says before its host.
	userInfo = regexp.MustCompile(`://[^/@\s]+@`)
)

// shown is a value for people: on one line, and without what looks like a secret.
func shown(text string) string {
	words, err := splitQuoted(text)
	hidden := false
	for i, w := range words {
		if entry := secretEntry.FindStringSubmatch(w); entry != nil {
			words[i], hidden = entry[1]+"="+masked, true
		}
		words[i] = quoted(words[i])
	}
	switch {
	case err != nil && secretEntry.MatchString(text):
		text = masked
	case hidden:
		text = strings.Join(words, " ")
	}
	text = knownToken.ReplaceAllString(text, masked)
	text = userInfo.ReplaceAllString(text, "://"+masked+"@")
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
