package config

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/platform"
)

type parser = func(*Settings, string) error

func text(field func(*Settings) *string) parser {
	return func(s *Settings, v string) error { *field(s) = v; return nil }
}

func boolean(field func(*Settings) *bool) parser {
	return func(s *Settings, v string) (err error) { *field(s), err = parseBool(v); return err }
}

func parseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, bad("write true or false", "%q is neither true nor false", v)
}

func choice(field func(*Settings) *string, allowed ...string) parser {
	return func(s *Settings, v string) error {
		if !slices.Contains(allowed, v) {
			return bad("write "+strings.Join(allowed, " or "), "unknown value %q", v)
		}
		*field(s) = v
		return nil
	}
}

func list(field func(*Settings) *[]string) parser {
	return func(s *Settings, v string) error {
		*field(s) = unique(platform.Fields(v))
		return nil
	}
}

func unique(list []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func number(field func(*Settings) *int, least, most int) parser {
	return func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return bad("", "%q is not a whole number from %d to %d", v, least, most)
		}
		*field(s) = n
		return nil
	}
}

// pairs reads K=V entries separated by commas or blanks; an entry may be quoted
// as a whole or in its value to hold either.
func pairs(field func(*Settings) *map[string]string, check func(k string) error) parser {
	return func(s *Settings, v string) error {
		m, err := parsePairs(v, check)
		if err == nil {
			*field(s) = m
		}
		return err
	}
}

func parsePairs(v string, check func(k string) error) (map[string]string, error) {
	words, err := splitQuoted(v)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" {
			return nil, bad("write KEY=value, quoted where the value holds a blank or a comma", "%q is not KEY=value", word)
		}
		if check != nil {
			if err := check(key); err != nil {
				return nil, err
			}
		}
		m[key] = value
	}
	return m, nil
}

// splitQuoted splits at commas and blanks outside of quotes and removes the
// quotes.
func splitQuoted(v string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	started := false
	flush := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	for _, r := range v {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, started = r, true
		case quote == 0 && strings.ContainsRune(", \t\r\n", r):
			flush()
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, bad("", "a quote is not closed")
	}
	flush()
	return words, nil
}

func checkBuildArg(key string) error {
	if platform.AutomaticArg(key) {
		return bad("remove it: each platform sets it by itself", "%s is set by the platform and cannot be a build argument", key)
	}
	return nil
}

func parsePlatforms(s *Settings, v string) error {
	platforms, err := images(s, v)
	if err != nil {
		return err
	}
	s.Platforms, s.PlatformsSet = platforms, true
	return nil
}

// images reads a list of platforms that images are built for.
func images(s *Settings, v string) ([]platform.Platform, error) {
	platforms, duplicates, err := platform.ParseList(v)
	if err != nil {
		return nil, platformProblem(err)
	}
	if len(platforms) == 0 {
		return nil, bad("name at least one platform, e.g. linux/amd64, or leave it unset", "the list of platforms is empty")
	}
	for _, p := range platforms {
		if p.OS != "linux" {
			return nil, bad("images are built for linux; `binaries` builds programs for others", "platform %q: images for %s are not supported", p, p.OS)
		}
	}
	for _, d := range duplicates {
		s.Notes = append(s.Notes, "platform "+d+" is listed twice; built once")
	}
	return platforms, nil
}

func platformProblem(err error) error {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return bad(hinted.Hint(), "%s", err)
	}
	return bad("", "%s", err)
}

func parseRelease(s *Settings, v string) (err error) {
	s.Release, _, err = platform.ParseList(v)
	if err != nil {
		return platformProblem(err)
	}
	return nil
}

func parseBin(s *Settings, v string) error {
	if !strings.Contains(v, "{name}") || !strings.Contains(v, "{arch}") {
		return bad("e.g. bin/{name}-{os}-{arch}{variant}", "%q must hold {name} and {arch}, or two platforms would share a file", v)
	}
	clean, err := inside(v)
	if err == nil {
		s.Bin = clean
	}
	return err
}

func parseOut(s *Settings, v string) error {
	clean, err := inside(v)
	if err == nil && clean == "." {
		err = bad("", "it cannot be the repository itself")
	}
	if err == nil {
		s.Out = clean
	}
	return err
}

// inside cleans a path that must stay in the repository.
func inside(v string) (string, error) {
	clean := path.Clean(v)
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", bad("write a path relative to the repository", "%q lies outside of the repository", v)
	}
	return clean, nil
}

func parseLoad(s *Settings, v string) error {
	if strings.EqualFold(v, "auto") {
		s.Load = "auto"
		return nil
	}
	on, err := parseBool(v)
	if err != nil {
		return bad("write true, false or auto", "%q is neither true, false nor auto", v)
	}
	s.Load = strconv.FormatBool(on)
	return nil
}

func parseLabels(s *Settings, v string) error { return parseMetadata(&s.Labels, v) }

func parseMetadata(m *Metadata, v string) error {
	switch v {
	case "auto":
		*m = Metadata{Auto: true}
		return nil
	case "none":
		*m = Metadata{}
		return nil
	}
	values, err := parsePairs(v, nil)
	if err == nil {
		*m = Metadata{Auto: true, Values: values}
	}
	return err
}

func parseMirrors(s *Settings, v string) error {
	m, err := parsePairs(v, nil)
	if err != nil {
		return err
	}
	s.Mirrors = nil
	for _, prefix := range slices.Sorted(maps.Keys(m)) {
		if m[prefix] == "" {
			return bad("e.g. gcr.io=localhost:5000/gcr", "mirror of %q is empty", prefix)
		}
		if strings.ContainsAny(m[prefix], "@?#") || strings.Contains(m[prefix], "://") {
			return bad("e.g. gcr.io=localhost:5000/gcr; log in with docker login", "mirror of %q is no host and path", prefix)
		}
		s.Mirrors = append(s.Mirrors, Mirror{prefix, strings.TrimSuffix(m[prefix], "/")})
	}
	return nil
}

func parseEpoch(s *Settings, v string) error {
	sec, err := strconv.ParseInt(v, 10, 64)
	if err != nil || sec < 0 {
		return bad("e.g. SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)", "%q is not a Unix time in seconds", v)
	}
	t := time.Unix(sec, 0).UTC()
	s.Epoch = &t
	return nil
}

func parseDelay(s *Settings, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > time.Hour {
		return bad("e.g. 1s or 500ms", "%q is not a duration from 0 to 1h", v)
	}
	s.RetryDelay = d
	return nil
}
