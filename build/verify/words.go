package verify

import (
	"regexp"
	"slices"

	"github.com/archmage-go/archmage/build/platform"
)

var (
	wordPattern    = regexp.MustCompile(`[A-Za-z0-9]+`)
	variantPattern = regexp.MustCompile(`^v[0-9]+$`)
	armPattern     = regexp.MustCompile(`^[5-7]$`)
)

// archWord is an architecture that a path names, and where.
type archWord struct {
	platform.Platform     // without variant where the path has none
	start, end        int // offsets
}

// named finds the architectures in a path: words between anything that is no
// letter and no digit, x86_64 and x86-64 as one, and a variant that follows as a
// word of its own (linux_arm_6, arm/v7, amd64_v1).
func named(text string) []archWord {
	text = lower(text)
	at := wordPattern.FindAllStringIndex(text, -1)
	var list []archWord
	for i := 0; i < len(at); i++ {
		start, end := at[i][0], at[i][1]
		p, ok := platform.Named(text[start:end])
		if i+1 < len(at) {
			next := text[at[i+1][0]:at[i+1][1]]
			if q, both := platform.Named(text[start:at[i+1][1]]); both {
				p, ok, end = q, true, at[i+1][1]
			} else if q, both := withVariant(p, next); ok && both {
				p, end = q, at[i+1][1]
			}
		}
		if !ok {
			continue
		}
		if end != at[i][1] {
			i++
		}
		list = append(list, archWord{p, start, end})
	}
	return list
}

// lower changes ASCII letters alone, so that every offset stays.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// archish finds what asks for a platform: where a condition has it, what
// follows may be for one platform alone.
var archish = regexp.MustCompile(`(?i)arch|platform|target|uname|dpkg|\b(os|goos|variant)\b`)

// asksPlatform reports whether text may tell platforms apart.
func asksPlatform(text string) bool { return archish.MatchString(text) || len(named(text)) > 0 }

// withVariant is p with the variant that a following word names.
func withVariant(p platform.Platform, word string) (platform.Platform, bool) {
	if !variantPattern.MatchString(word) && !(p.Arch == "arm" && armPattern.MatchString(word)) {
		return p, false
	}
	return platform.Named(p.Arch + "/" + word)
}

// runs reports whether a binary for q, a platform as a path names it, runs on p:
// the same architecture, and no higher variant.
func runs(q, p platform.Platform) bool {
	if q.Arch != p.Arch {
		return false
	}
	_, value := q.GoVar()
	return q.Variant == "" || slices.Contains(p.Runs(), value)
}

// foreign reports whether a path names architectures and none of them is p's.
func foreign(words []archWord, p platform.Platform) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w archWord) bool { return runs(w.Platform, p) })
}
