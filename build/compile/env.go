package compile

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
)

// environment is explicit about everything that decides what is built, on this
// machine's own platform as on any other.
func environment(p platform.Platform, o Options) []string {
	env := p.GoEnv()
	if !o.CGO {
		env = append(env, "CGO_ENABLED=0")
	} else if env = append(env, "CGO_ENABLED=1"); compiler(p, o) != "" {
		env = append(env, "CC="+compiler(p, o))
	}
	if o.GoFlags != "" {
		env = append(env, "GOFLAGS="+o.GoFlags)
	}
	return env
}

// compiler is the C compiler for a platform: its own, or that of its
// architecture.
func compiler(p platform.Platform, o Options) string {
	if cc := o.CC[p]; cc != "" {
		return cc
	}
	base, _ := platform.Parse(p.OS + "/" + p.Arch)
	return o.CC[base]
}

// needCompilers reports every platform that cgo has no compiler for. Go would
// run this machine's own, which then complains about options it never heard of.
func needCompilers(binaries []plan.Binary, o Options) error {
	var errs []error
	seen := map[platform.Platform]bool{}
	for _, bin := range binaries {
		p := bin.Platform
		native := p.OS == runtime.GOOS && p.Arch == runtime.GOARCH
		if o.CGO && !native && compiler(p, o) == "" && !seen[p] {
			errs = append(errs, noCompiler(p))
		}
		seen[p] = true
	}
	return errors.Join(errs...)
}

func noCompiler(p platform.Platform) error {
	return &UsageError{
		cause: fmt.Sprintf("compile for %s: CGO_ENABLED is 1 and there is no C compiler for it", p),
		hint:  fmt.Sprintf("set CC_%s_%s, e.g. to a cross gcc, or CGO_ENABLED=0", p.OS, p.Suffix()),
	}
}
