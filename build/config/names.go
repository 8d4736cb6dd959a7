package config

import (
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/archmage-go/archmage/build/platform"
)

var (
	legalTag        = regexp.MustCompile("^(?:" + reference.TagRegexp.String() + ")$")
	legalHost       = regexp.MustCompile("^(?:" + reference.DomainRegexp.String() + ")$")
	legalRepository = regexp.MustCompile("^(?:" + pathGrammar + ")$")
	notInTag        = regexp.MustCompile(`[^\w.-]`)
)

// pathGrammar is that of a repository name without its host, in the OCI
// distribution specification.
const pathGrammar = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*`

func checkTag(v string) error {
	if legalTag.MatchString(v) {
		return nil
	}
	hint := "a tag is up to 128 letters, digits, '_', '.' and '-', and starts with none of the last two"
	if s := sanitise(v); legalTag.MatchString(s) {
		hint = "write " + s
	}
	return bad(hint, "%q is no legal tag", v)
}

// sanitise is the nearest legal tag, offered in a hint and never used unasked:
// two versions could become one.
func sanitise(v string) string {
	s := strings.TrimLeft(notInTag.ReplaceAllString(v, "-"), ".-")
	return s[:min(len(s), 128)]
}

func tag(field func(*Settings) *string) parser {
	return func(s *Settings, v string) error {
		if err := checkTag(v); err != nil {
			return err
		}
		*field(s) = v
		return nil
	}
}

func parseTags(s *Settings, v string) error {
	tags := unique(platform.Fields(v))
	for i, t := range tags {
		err := checkTag(t)
		if err == nil {
			continue
		}
		for k, other := range tags {
			if k != i && sanitise(other) == sanitise(t) {
				return bad("choose another: near to both is "+sanitise(t), "%q is no legal tag", t)
			}
		}
		return err
	}
	s.Tags = tags
	return nil
}

func parseLeg(s *Settings, v string) error {
	if !strings.Contains(v, "{version}") || !strings.Contains(v, "{arch}") {
		return bad("e.g. {version}-{arch}{variant}", "%q must hold {version} and {arch}, or two legs would share a tag", v)
	}
	probe := strings.NewReplacer("{version}", "v1", "{os}", "linux", "{arch}", "arm", "{variant}", "v7").Replace(v)
	if err := checkTag(probe); err != nil {
		return bad("e.g. {version}-{arch}{variant}", "%q gives tags such as %q, which are not legal", v, probe)
	}
	s.Leg = v
	return nil
}

func parseRegistry(s *Settings, v string) error {
	v = strings.TrimSuffix(v, "/")
	if strings.Contains(v, "://") {
		return bad("leave the scheme out: ghcr.io/org", "a registry is written without http:// or https://")
	}
	if strings.Contains(v, "@") {
		return bad("log in instead: docker login", "credentials do not belong into REGISTRY")
	}
	host, repository, _ := strings.Cut(v, "/")
	if !legalHost.MatchString(host) {
		return bad("e.g. ghcr.io/org or localhost:5000", "%q is no registry host", host)
	}
	if repository != "" && !legalRepository.MatchString(repository) {
		hint := "repository names are lower case letters, digits, '.', '_', '-' and '/'"
		if lower := strings.ToLower(repository); legalRepository.MatchString(lower) {
			hint = "write " + host + "/" + lower
		}
		return bad(hint, "%q is no legal repository name", repository)
	}
	s.Registry = v
	return nil
}

// CheckRegistry checks text as REGISTRY is checked, and returns it without a
// slash at its end. where names the option that it comes from.
func CheckRegistry(where, text string) (string, error) {
	var s Settings
	if err := parseRegistry(&s, text); err != nil {
		return "", located(where, err)
	}
	return s.Registry, nil
}

// CheckImageName says whether name can be the last part of a repository.
func CheckImageName(name string) error {
	if legalRepository.MatchString(name) && !strings.Contains(name, "/") {
		return nil
	}
	hint := "image names are lower case letters, digits, '.', '_' and '-'"
	if lower := strings.ToLower(name); legalRepository.MatchString(lower) && !strings.Contains(lower, "/") {
		hint = "name it " + lower + " in archmage.yaml, or rename the directory"
	}
	return &Error{Where: "image " + name, Cause: "not a legal image name", hint: hint}
}
