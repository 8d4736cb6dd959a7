package verify

import (
	"cmp"
	"slices"
)

// Rule describes one kind of finding.
type Rule struct {
	Name        string
	Description string // one line, without a full stop
	Severity    Severity
	URL         string // its page
}

// pages is where docs/rules is published.
const pages = "https://github.com/archmage-go/archmage/blob/main/docs/rules/"

// row is a rule and what finds it. check returns findings without what the
// rule itself says.
type row struct {
	Rule
	check func(*state) []Finding
}

// table lists the rules in the order in which they are asked. A source of a
// COPY that one rule has claimed is not shown to those after it, so the first
// that fits is the only one that reports it.
func table() []row {
	return []row{
		fatal("TargetArchUndeclared", "A COPY path has a hole: its platform variable has no ARG in this stage", undeclared),
		fatal("PlatformArgDefault", "The default of a platform ARG wins over the platform that is built", platformDefaults),
		fatal("WrongArchPath", "The path of a binary names another architecture than the platform's", each(wrongArch, tellWrongArch)),
		fatal("VariantCollision", "Two variants of one architecture take the same binary", each(collides, tellCollision)),
		fatal("ArchBlindCopy", "One binary is copied for platforms that need different ones", each(blind, tellBlind)),
		fatal("IgnoredBinary", "The ignore file keeps a binary out of the build context", each(ignored, tellIgnored)),
		fatal("UnknownBinary", "No command makes the binary that is copied, and there is no such file", each(unknown, tellUnknown)),
	}
}

func fatal(name, description string, check func(*state) []Finding) row {
	return row{Rule{Name: name, Description: description, Severity: Error, URL: pages + name + ".md"}, check}
}

// Rules lists every rule by name.
func Rules() []Rule {
	var list []Rule
	for _, r := range table() {
		list = append(list, r.Rule)
	}
	slices.SortFunc(list, func(a, b Rule) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
