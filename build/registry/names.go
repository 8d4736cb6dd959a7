package registry

import (
	"fmt"
	"net"
	"regexp"
	"strings"
)

// Grammar of the distribution spec 1.1, "Pulling manifests": names and tags.
var (
	tagGrammar  = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	pathGrammar = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	hostGrammar = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*)(:[0-9]+)?$`)
	notInTag    = regexp.MustCompile(`[^\w.-]`)
	notInPath   = regexp.MustCompile(`[^a-z0-9._/-]`)
	separators  = regexp.MustCompile(`[._-]+(/|$)|(^|/)[._-]+`)
	longRun     = regexp.MustCompile(`\.{2,}|_{3,}|[._-]*\.[_-]+|_*-[._-]*|[_-]+\.`)
)

const maxPath = 255 // of a repository, registry not counted: what Docker Hub and distribution take

// NameError says what is wrong with a tag or a repository name.
type NameError struct {
	Kind, Text, Cause string
	hint              string
}

func (e *NameError) Error() string { return fmt.Sprintf("%s %q: %s", e.Kind, e.Text, e.Cause) }

// Hint offers a legal spelling where one is near; "" where none is.
func (e *NameError) Hint() string { return e.hint }

// CheckTag returns a *[NameError] when tag is no legal tag.
func CheckTag(tag string) error {
	if tagGrammar.MatchString(tag) {
		return nil
	}
	cause := "a tag is letters, digits, _, . and -, and does not begin with . or -"
	switch {
	case tag == "":
		cause = "empty"
	case len(tag) > 128:
		cause = fmt.Sprintf("%d characters long, at most 128 are allowed", len(tag))
	}
	err := &NameError{Kind: "tag", Text: tag, Cause: cause}
	if near := SanitizeTag(tag); near != "" {
		err.hint = "a legal tag near it: " + near
	}
	return err
}

// SanitizeTag is the legal tag nearest to text, "" where nothing is left. It is
// for hints alone: two texts can become one tag.
func SanitizeTag(text string) string {
	tag := strings.TrimLeft(notInTag.ReplaceAllString(text, "-"), ".-")
	return tag[:min(len(tag), 128)]
}

// CheckRepository returns a *[NameError] when name is no legal
// [HOST[:PORT]/]path. A user name or password in it is not shown.
func CheckRepository(name string) error {
	fail := func(cause, hint string) error {
		return &NameError{Kind: "repository", Text: mask(name), Cause: cause, hint: hint}
	}
	if strings.Contains(name, "@") {
		return fail("credentials or a digest in a repository name", "log in with `docker login` and leave them out of the name")
	}
	if scheme, rest, ok := strings.Cut(name, "://"); ok {
		return fail("a repository has no scheme", "leave out "+scheme+":// and write "+rest)
	}
	host, path := splitHost(name)
	if host != "" && !hostGrammar.MatchString(host) {
		return fail(fmt.Sprintf("%q is no registry host", host), "")
	}
	if len(path) > maxPath {
		return fail(fmt.Sprintf("%d characters long, at most %d are allowed", len(path), maxPath), "")
	}
	if pathGrammar.MatchString(path) {
		return nil
	}
	if path == "" {
		return fail("no name after the registry", "")
	}
	hint := ""
	if near := sanitizePath(path); near != "" {
		hint = "a legal name near it: " + strings.TrimPrefix(host+"/"+near, "/")
	}
	return fail("a name is lower-case letters and digits, with ., _ or - between them", hint)
}

func sanitizePath(path string) string {
	path = notInPath.ReplaceAllString(strings.ToLower(path), "-")
	path = longRun.ReplaceAllString(path, "-")
	path = strings.Trim(separators.ReplaceAllString(path, "/"), "/")
	if !pathGrammar.MatchString(path) {
		return ""
	}
	return path
}

// splitHost cuts a name into host and path by docker's rule: the first element
// is a host when it holds a dot or a colon, or is localhost.
func splitHost(name string) (host, path string) {
	first, rest, ok := strings.Cut(name, "/")
	if first == "localhost" || strings.ContainsAny(first, ".:") {
		return first, rest
	}
	if !ok && name == "" {
		return "", ""
	}
	return "", name
}

// mask hides what stands before the last @ of a host, which may be a password.
func mask(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 && !strings.HasPrefix(text[at+1:], "sha256:") {
		return "…@" + text[at+1:]
	}
	return text
}

// loopback reports whether a host is this machine: 127.0.0.0/8, ::1 or
// localhost, with or without a port. Only there is plain HTTP spoken.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
