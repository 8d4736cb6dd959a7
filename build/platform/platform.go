// Package platform names a platform and maps it to Go's environment, to OCI and
// to text. It is the only place that knows architectures and their variants.
package platform

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Platform is os/arch[/variant], normalised: the zero variant is left out for
// every architecture but arm, whose variant is always named, as containerd and
// BuildKit do (linux/arm64/v8 is linux/arm64, linux/arm is linux/arm/v7).
// The zero value is no platform. Two platforms are equal when == says so.
type Platform struct {
	OS, Arch, Variant string
}

// String is the platform as IMAGE_PLATFORMS spells it, e.g. linux/arm/v7.
func (p Platform) String() string {
	if p.OS == "" {
		return ""
	}
	return strings.TrimSuffix(p.OS+"/"+p.Arch+"/"+p.Variant, "/")
}

// Suffix is arch and variant in one word, e.g. arm64 or armv7: what file names
// and leg tags end in.
func (p Platform) Suffix() string { return p.Arch + p.Variant }

// MarshalText makes a platform one string in JSON and YAML.
func (p Platform) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what [Parse] reads; empty text is the zero platform.
func (p *Platform) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Platform{}
		return nil
	}
	q, err := Parse(string(text))
	if err == nil {
		*p = q
	}
	return err
}

// Host is the platform of container images that this machine runs without
// emulation: linux on this machine's architecture, since containers on macOS
// and Windows run in a Linux of the same architecture.
func Host() Platform {
	p := Platform{OS: "linux", Arch: runtime.GOARCH}
	if a, ok := arches[p.Arch]; ok {
		p.Variant = a.implied
	}
	return p
}

// Match reports whether p is one of what a list of platforms selects; an empty
// list selects all.
func (p Platform) Match(list []Platform) bool {
	return len(list) == 0 || slices.Contains(list, p)
}

// Expand replaces {name}, {os}, {arch} and {variant} in form.
func (p Platform) Expand(form, name string) string {
	return strings.NewReplacer("{name}", name, "{os}", p.OS, "{arch}", p.Arch, "{variant}", p.Variant).Replace(form)
}

// Error says what is wrong with a platform's text, and what was meant.
type Error struct {
	Text, Cause, hint string
}

func (e *Error) Error() string { return fmt.Sprintf("platform %q: %s", e.Text, e.Cause) }

// Hint is the line to show below the error; "" where there is none.
func (e *Error) Hint() string { return e.hint }

// Parse reads os/arch[/variant] and normalises it. A lone architecture means
// linux. Aliases that BuildKit knows (aarch64, x86_64) are accepted; spellings
// that it takes for architectures of their own (armv7, arm64v8) are not.
// The operating system is not restricted to that of images here.
func Parse(text string) (Platform, error) {
	fail := func(hint, format string, args ...any) (Platform, error) {
		return Platform{}, &Error{Text: text, Cause: fmt.Sprintf(format, args...), hint: hint}
	}
	parts := strings.Split(strings.ToLower(text), "/")
	if len(parts) == 1 {
		parts = []string{"linux", parts[0]}
	}
	if len(parts) > 3 || slices.Contains(parts, "") {
		return fail("write os/arch or os/arch/variant, e.g. linux/arm64", "not of the form os/arch[/variant]")
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if alias, ok := aliases[p.Arch]; ok {
		p.Arch = alias
	}
	a, known := arches[p.Arch]
	if !known {
		return fail(archHint(p), "unknown architecture %q", parts[1])
	}
	if !slices.Contains(a.oses, p.OS) {
		return fail("", "the Go toolchain does not build for %s/%s", p.OS, p.Arch)
	}
	p.Variant = a.implied
	if len(parts) == 3 {
		v, ok := a.variant(parts[2])
		if !ok {
			return fail(a.hint(), "unknown variant %q of %s", parts[2], p.Arch)
		}
		p.Variant = v
	}
	return p, nil
}

func archHint(p Platform) string {
	if meant, ok := meant[p.Arch]; ok {
		return "write " + p.OS + "/" + meant
	}
	names := archNames(p.OS)
	if len(names) == 0 {
		names = archNames("linux")
	}
	return "known architectures: " + strings.Join(names, ", ")
}

// Fields splits a list that is separated by commas or blanks.
func Fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

// ParseList reads a list separated by commas or blanks, in its order. Entries
// that are equal after normalising are kept once; duplicates lists the spelling
// of each one dropped. An empty list gives no platforms and no error.
func ParseList(list string) (platforms []Platform, duplicates []string, err error) {
	for _, text := range Fields(list) {
		p, err := Parse(text)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(platforms, p) {
			duplicates = append(duplicates, text)
			continue
		}
		platforms = append(platforms, p)
	}
	return platforms, duplicates, nil
}

// Compare orders platforms by their text.
func Compare(a, b Platform) int { return cmp.Compare(a.String(), b.String()) }
