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
	Pedantic    bool   // only advice: asked for, or silent
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
		fatal("WrongArchPath", "The path of a binary names another architecture than the platform's", each(wrongArch, tellWrongArch, editArch)),
		fatal("VariantCollision", "Two variants of one architecture take the same binary", each(collides, tellCollision, editArch)),
		fatal("ArchBlindCopy", "One binary is copied for platforms that need different ones", each(blind, tellBlind, editBlind)),
		fatal("IgnoredBinary", "The ignore file keeps a binary out of the build context", each(ignored, tellIgnored, editIgnored)),
		fatal("UnknownBinary", "No command makes the binary that is copied, and there is no such file", unknownBinary),

		fatal("BuildPlatformBase", "The image is built on a base of another platform", buildPlatformBase),
		fatal("SinglePlatformDigest", "A base is pinned to the digest of one platform", singlePlatformDigest),
		fatal("BaseLacksPlatform", "A base has no image for a platform", baseLacksPlatform),

		fatal("FromSourceHostArch", "A compiler on the build platform never hears the target", fromSourceHostArch),
		fatal("HardcodedGoarch", "GOARCH is a constant where a program is compiled", hardcodedGoarch),

		fatal("EntrypointMissing", "The program that the image starts is not in it", entrypointMissing),
		fatal("EntrypointNotExecutable", "The program that the image starts cannot be executed", entrypointNotExecutable),
		fatal("ShellFormNoShell", "A shell form needs a shell that the image does not have", shellFormNoShell),
		fatal("UnexpandedExec", "The program of an exec form is a variable, which nothing expands", unexpandedExec),

		warn("ArchByBuildArg", "A build argument decides the architecture, not the platform", archByBuildArg),
		warn("GlobbedBinary", "A wildcard names a binary", each(globbed, tellGlobbed)),
		warn("OutputCopied", "A source is in archmage's output directory, which no build context has", each(output, tellOutput)),
		warn("ParentIgnoreFile", "The .dockerignore beside the Dockerfile is never read", parentIgnoreFile),

		warn("EmulatedBuild", "A program is compiled under emulation", emulatedBuild),
		warn("HardcodedDownload", "A download names one architecture", hardcodedDownload),
		warn("LostExport", "A variable that a RUN exports is gone in the next one", lostExport),
		warn("RunReplaceable", "A RUN needs an engine for what COPY and numbers can do", runReplaceable),

		warn("NamedUser", "The user is a name, which Kubernetes cannot check", namedUser),
		warn("UnknownOwner", "An owner that the base does not know becomes root", unknownOwner),
		warn("UnreadableFile", "A file cannot be read or executed by the image's user", unreadableFile),
		warn("ChmodReachesParents", "--chmod locks the directories that COPY makes", chmodReachesParents),
		warn("LinkReplacesSymlink", "--link puts a directory in the place of a link of the base", linkReplacesSymlink),

		advice("UnpinnedBase", "A base is named without a digest, so it can change", unpinnedBase),
		advice("RootUser", "The image runs as root", rootUser),
	}
}

func fatal(name, description string, check func(*state) []Finding) row {
	return newRow(name, description, Error, check)
}

func warn(name, description string, check func(*state) []Finding) row {
	return newRow(name, description, Warning, check)
}

// advice is a warning that only those see who ask for it.
func advice(name, description string, check func(*state) []Finding) row {
	r := warn(name, description, check)
	r.Pedantic = true
	return r
}

func newRow(name, description string, s Severity, check func(*state) []Finding) row {
	return row{Rule{Name: name, Description: description, Severity: s, URL: pages + name + ".md"}, check}
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
