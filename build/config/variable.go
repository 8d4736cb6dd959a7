package config

import (
	"slices"
	"strings"
)

// Variable is one setting: a variable of make, a variable of the environment, a
// flag, and a key of archmage.yaml, all under one name.
type Variable struct {
	Name    string // as in make and the environment, e.g. IMAGE_TAGS
	Alias   string // another environment name of the same setting, or ""
	Default string // as one would write it; "" is none
	Doc     string // one line, for --help and the reference
	Group   Group
	Bool    bool     // the flag may stand without a value
	Values  []string // words that it takes, for completion; nil where they are without number
	Each    string   // a further flag, which takes one entry of the list as it is, each time it is given; or ""

	noFile bool // never from archmage.yaml
	parse  func(s *Settings, value string) error
}

// Group is the kind of work that a variable belongs to; each verb lists the
// groups it uses.
type Group string

// The groups, in the order of the reference.
const (
	GroupWhat     Group = "what is built"
	GroupGo       Group = "the go command"
	GroupImage    Group = "images"
	GroupRegistry Group = "registries and tags"
	GroupRun      Group = "the run"
	GroupConsole  Group = "the console"
)

// Flag is the variable's flag without dashes: its name in lower case, blanks as
// dashes, without IMAGE_.
func (v Variable) Flag() string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(v.Name, "IMAGE_")), "_", "-")
}

// Entry quotes one entry of a list, whatever it holds.
func Entry(text string) string { return quoted(text) }

// Variables lists every setting, in the order of the reference.
func Variables() []Variable { return slices.Clone(variables) }

// Lookup finds a variable by its name.
func Lookup(name string) (Variable, bool) {
	for _, v := range variables {
		if v.Name == name {
			return v, true
		}
	}
	return Variable{}, false
}

var variables = []Variable{
	{
		Name: "IMAGE_PLATFORMS", Alias: "PLATFORMS", Default: "linux/amd64,linux/arm64", Group: GroupWhat,
		Doc: "platforms to build for, comma or blank separated", parse: parsePlatforms,
	},
	{
		Name: "WHAT", Group: GroupWhat, Default: "all",
		Doc: "images or commands to work on: names or directories", parse: list(func(s *Settings) *[]string { return &s.What }),
	},
	{
		Name: "IMAGE_DIRS", Group: GroupWhat,
		Doc: "image directories, instead of discovery; each holds a Dockerfile or Containerfile", parse: list(func(s *Settings) *[]string { return &s.Dirs }),
	},
	{
		Name: "IMAGE_BIN", Default: "bin/{name}-{os}-{arch}{variant}", Group: GroupWhat,
		Doc: "where binaries go, and what COPY lines name", parse: parseBin,
	},
	{
		Name: "RELEASE_PLATFORMS", Group: GroupWhat, Default: releaseDefault,
		Doc: "platforms of `binaries`", parse: parseRelease,
	},
	{
		Name: "LDFLAGS", Default: "-s -w", Group: GroupGo,
		Doc: "link flags, handed to the go command as one argument", parse: text(func(s *Settings) *string { return &s.LDFlags }),
	},
	{
		Name: "GOFLAGS", Default: "as set", Group: GroupGo,
		Doc: "flags of the go command, as Go reads them", parse: text(func(s *Settings) *string { return &s.GoFlags }),
	},
	{
		Name: "CGO_ENABLED", Default: "0", Group: GroupGo, Values: []string{"0", "1"},
		Doc: "compile with cgo; needs CC_<os>_<arch> for other platforms", parse: boolean(func(s *Settings) *bool { return &s.CGO }),
	},
	{
		Name: "VERSION_PKG", Group: GroupGo,
		Doc: "package whose Version the linker sets; not for version latest", parse: text(func(s *Settings) *string { return &s.VersionPkg }),
	},
	{
		Name: "BINARY_VERSION", Default: "VERSION without a leg's suffix", Group: GroupGo,
		Doc: "the version to link", parse: text(func(s *Settings) *string { return &s.BinaryVersion }),
	},
	{
		Name: "IMAGE_ENGINE", Default: "auto", Group: GroupImage, Values: []string{"auto", "native", "buildx", "buildah"},
		Doc: "who builds: auto, native, buildx or buildah", parse: choice(func(s *Settings) *string { return &s.Engine }, "auto", "native", "buildx", "buildah"),
	},
	{
		Name: "IMAGE_BUILD_ARGS", Group: GroupImage,
		Doc: "build arguments, K=V separated by commas or blanks", parse: pairs(func(s *Settings) *map[string]string { return &s.BuildArgs }, checkBuildArg),
	},
	{
		Name: "IMAGE_TARGET", Default: "last stage", Group: GroupImage,
		Doc: "stage to build", parse: text(func(s *Settings) *string { return &s.Target }),
	},
	{
		Name: "IMAGE_LABELS", Default: "auto", Group: GroupImage, Values: []string{"auto", "none"},
		Doc: "labels: auto (org.opencontainers.image.*), none, or K=V on top of auto", parse: parseLabels,
	},
	{
		Name: "IMAGE_ANNOTATIONS", Default: "auto", Group: GroupImage, Values: []string{"auto", "none"},
		Doc:  "annotations: auto, none, or [LEVEL[PLATFORM],…:]K=V on top of auto; the levels are manifest, index, manifest-descriptor",
		Each: "annotation", parse: parseAnnotations,
	},
	{
		Name: "IMAGE_VERIFY", Default: "true", Group: GroupImage, Bool: true, Values: []string{"true", "false"},
		Doc: "stop at findings; false prints them and goes on", parse: boolean(func(s *Settings) *bool { return &s.Verify }),
	},
	{
		Name: "IMAGE_OUT", Default: "dist", Group: GroupImage,
		Doc: "where images are written without PUSH", parse: parseOut,
	},
	{
		Name: "IMAGE_MEDIA_TYPES", Default: "oci", Group: GroupImage, Values: []string{"oci", "docker"},
		Doc: "media types of everything written: oci or docker", parse: choice(func(s *Settings) *string { return &s.MediaTypes }, "oci", "docker"),
	},
	{
		Name: "IMAGE_COMPRESSION", Default: "gzip", Group: GroupImage, Values: []string{"gzip", "zstd"},
		Doc: "compression of new layers: gzip or zstd", parse: choice(func(s *Settings) *string { return &s.Compression }, "gzip", "zstd"),
	},
	{
		Name: "IMAGE_SBOM", Default: "true", Group: GroupImage, Bool: true, Values: []string{"true", "false"},
		Doc: "attach an SBOM (SPDX 2.3, JSON) to each leg, as an OCI referrer", parse: boolean(func(s *Settings) *bool { return &s.SBOM }),
	},
	{
		Name: "IMAGE_MIRRORS", Group: GroupImage,
		Doc: "where base images are read instead: gcr.io=localhost:5000/gcr,…", parse: parseMirrors,
	},
	{
		Name: "LOAD", Default: "auto", Group: GroupImage, Bool: true, Values: []string{"auto", "true", "false"},
		Doc: "load the host platform's image into docker or podman: true, false, auto", parse: parseLoad,
	},
	{
		Name: "CONTAINER_TOOL", Default: "docker", Group: GroupImage, Values: []string{"docker", "podman"},
		Doc: "tool for engines and LOAD", parse: text(func(s *Settings) *string { return &s.ContainerTool }),
	},
	{
		Name: "BUILDX_BUILDER", Default: "as set", Group: GroupImage,
		Doc: "builder that buildx uses", parse: text(func(s *Settings) *string { return &s.Builder }),
	},
	{
		Name: "IMAGE_CACHE", Default: "auto", Group: GroupImage, Values: []string{"auto", "none"},
		Doc: "cache of buildx builds: auto (REGISTRY/<name>:buildcache-<arch>, written with PUSH) or none", parse: choice(func(s *Settings) *string { return &s.Cache }, "auto", "none"),
	},
	{
		Name: "SOURCE_DATE_EPOCH", Group: GroupImage,
		Doc: "Unix time of every timestamp", parse: parseEpoch,
	},
	{
		Name: "REGISTRY", Group: GroupRegistry,
		Doc: "prefix of image names, e.g. ghcr.io/org", parse: parseRegistry,
	},
	{
		Name: "VERSION", Default: "git describe, else dev", Group: GroupRegistry,
		Doc: "the tag", parse: tag(func(s *Settings) *string { return &s.Version }),
	},
	{
		Name: "SOURCE_VERSION", Default: "VERSION", Group: GroupRegistry,
		Doc: "version whose legs manifest joins", parse: tag(func(s *Settings) *string { return &s.SourceVersion }),
	},
	{
		Name: "IMAGE_TAGS", Group: GroupRegistry,
		Doc: "more shared tags to write with the same index, e.g. latest", parse: parseTags,
	},
	{
		Name: "IMAGE_LEG", Default: "{version}-{arch}{variant}", Group: GroupRegistry,
		Doc: "form of a leg's tag; {os} too", parse: parseLeg,
	},
	{
		Name: "PUSH", Default: "false", Group: GroupRegistry, Bool: true, Values: []string{"true", "false"},
		Doc: "push leg tags to REGISTRY", parse: boolean(func(s *Settings) *bool { return &s.Push }),
	},
	{
		Name: "IMAGE_REVISION", Group: GroupRegistry,
		Doc: "revision that every leg must carry", parse: text(func(s *Settings) *string { return &s.Revision }),
	},
	{
		Name: "IMAGE_FORCE", Default: "false", Group: GroupRegistry, Bool: true, noFile: true, Values: []string{"true", "false"},
		Doc: "replace what is otherwise refused", parse: boolean(func(s *Settings) *bool { return &s.Force }),
	},
	{
		Name: "IMAGE_RETRY_MAX", Default: "5", Group: GroupRun,
		Doc: "retries of one request", parse: number(func(s *Settings) *int { return &s.RetryMax }, 0, 100),
	},
	{
		Name: "IMAGE_RETRY_DELAY", Default: "1s", Group: GroupRun,
		Doc: "first pause between retries", parse: parseDelay,
	},
	{
		Name: "IMAGE_RUNNERS", Default: runnersDefault, Group: GroupRun,
		Doc: "CI runner per platform, the most specific wins", parse: parseRunners,
	},
	{
		Name: "IMAGE_JOBS", Default: "CPUs", Group: GroupRun,
		Doc: "parallel work", parse: number(func(s *Settings) *int { return &s.Jobs }, 1, 1024),
	},
	{
		Name: "IMAGE_PROGRESS", Default: "auto", Group: GroupConsole, noFile: true, Values: []string{"auto", "plain", "tty", "json"},
		Doc:   "how events are shown: auto (tty on a terminal outside of CI, else plain), plain, tty or json",
		parse: choice(func(s *Settings) *string { return &s.Progress }, "auto", "plain", "tty", "json"),
	},
	{
		Name: "IMAGE_QUIET", Default: "false", Group: GroupConsole, Bool: true, Values: []string{"true", "false"}, noFile: true,
		Doc: "show results, warnings and errors alone", parse: boolean(func(s *Settings) *bool { return &s.Quiet }),
	},
}
