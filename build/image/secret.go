package image

import (
	"slices"
	"strings"
)

// clouds begin the variables that credential helpers and Kubernetes plugins of
// the large clouds read. An engine starts these programs, so it needs them.
var clouds = []string{"AWS_", "AZURE_", "GOOGLE_"}

// secretEnds are how the names of variables end that hold a secret. A CI job
// has several, of which the log-in was made from or which other steps need.
var secretEnds = []string{"TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "API_KEY", "SECRET_KEY", "PRIVATE_KEY", "ACCESS_KEY"}

// Secret reports whether an engine has no need of the variable of that name and
// should not see it: GITHUB_TOKEN, REGISTRY_PASSWORD. An engine logs in with
// what DOCKER_CONFIG and its helpers have.
func Secret(name string) bool {
	upper := strings.ToUpper(name)
	if slices.ContainsFunc(clouds, func(p string) bool { return strings.HasPrefix(upper, p) }) {
		return false
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(upper, end) })
}

// withheld is [Secret] for the build of r: what its secrets name is needed.
func (r Request) withheld(name string) bool {
	return Secret(name) && !slices.ContainsFunc(r.Secrets, func(s string) bool { return names(s, name) })
}

// names reports whether a secret, as buildx spells it, can be read from the
// variable: id=X, id=x,env=X, id=x,type=env,src=X.
func names(secret, variable string) bool {
	fields := strings.FieldsFunc(secret, func(c rune) bool { return c == ',' || c == '"' })
	return slices.ContainsFunc(fields, func(f string) bool {
		key, value, _ := strings.Cut(f, "=")
		return slices.Contains([]string{"id", "env", "src", "source"}, key) && value == variable
	})
}
