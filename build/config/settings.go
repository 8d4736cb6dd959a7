// Package config reads the settings: from flags, the environment, archmage.yaml
// and defaults, in that order, and says exactly where one is wrong. Everything
// is checked before any work starts.
package config

import (
	"runtime"
	"time"

	"github.com/archmage-go/archmage/build/platform"
)

// Settings is every setting of one run, checked.
type Settings struct {
	Root   string // absolute directory of the repository
	DryRun bool   // what would be done is told and not done; of the command line alone

	Platforms     []platform.Platform // never empty, no duplicates
	PlatformsSet  bool                // somebody chose them
	What          []string            // nil is all
	Dirs          []string            // nil is discovery
	Bin           string              // form of a binary's path
	Release       []platform.Platform
	LDFlags       string
	GoFlags       string
	CGO           bool
	CC            map[platform.Platform]string // C compiler per platform
	VersionPkg    string
	BinaryVersion string

	Engine        string // auto, native, buildx, buildah
	BuildArgs     map[string]string
	Target        string
	Labels        Metadata
	Annotations   Annotations
	Verify        bool
	Out           string // slash path from Root
	MediaTypes    string // oci, docker
	Compression   string // gzip, zstd
	SBOM          bool
	Mirrors       []Mirror
	Load          string // auto, true, false
	ContainerTool string
	Builder       string
	Cache         string
	Epoch         *time.Time

	Registry      string
	Version       string
	NoVersion     string // why Version is a guess, though there is a checkout; or ""
	SourceVersion string
	Tags          []string
	Leg           string
	Push          bool
	Revision      string
	Force         bool

	RetryMax   int
	RetryDelay time.Duration
	Runners    []Runner // see [Settings.Runner]
	Jobs       int

	Progress string // auto, plain, tty, json
	Quiet    bool

	Images     []Image    // from archmage.yaml, sorted by name
	Severities []Severity // likewise, in its order
	Commit     Commit     // what git says of Root
	Auth       Auth
	GitHub     GitHub
	Notes      []string          // what the user should know, e.g. a duplicate platform
	From       map[string]string // variable → where its value came from, for those not default

	given map[string]string // variable → its value as written, likewise
}

// Metadata is a set of labels.
type Metadata struct {
	Auto   bool // the org.opencontainers.image.* set as well
	Values map[string]string
}

// Mirror says that what lives under Prefix is read from To instead.
type Mirror struct{ Prefix, To string }

// Auth is where registry credentials come from. It holds a token, so it is
// never printed.
type Auth struct {
	DockerConfig string // directory; "" is the default
	AuthFile     string // REGISTRY_AUTH_FILE
	GitHubToken  string // for ghcr.io alone
}

// GitHub is where a job on GitHub Actions writes what later jobs and people are
// to read. All are "" elsewhere.
type GitHub struct {
	Actions   bool   // this is such a job: GITHUB_ACTIONS
	Workspace string // directory that the paths of its workflow commands are relative to
	Output    string // file for NAME=value lines: GITHUB_OUTPUT
	Summary   string // file for Markdown: GITHUB_STEP_SUMMARY
}

// Image is what archmage.yaml says of one image. Zero fields say nothing.
type Image struct {
	Name       string
	Dockerfile string // slash path from Root
	Context    string // slash path from Root; "" is Root
	Target     string
	BuildArgs  map[string]string
	Labels     map[string]string
	Platforms  []platform.Platform
	Tags       []string
	Timeout    time.Duration
	Secrets    []string // for engines, as buildx spells them: id=x,src=path
	SSH        []string // likewise: default, or id=path
	Line       int      // of its key in archmage.yaml
}

// releaseDefault is the default of RELEASE_PLATFORMS.
const releaseDefault = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// Severity says how the findings of a rule count. Whether there is such a rule
// is for others to check.
type Severity struct {
	Rule  string
	Value string // off, warning, error
	Where string // e.g. archmage.yaml:3:5
}

func defaultRunners() []Runner {
	var s Settings
	_ = parseRunners(&s, runnersDefault) // a test reads it
	return s.Runners
}

func defaults(root string) *Settings {
	platforms, _, _ := platform.ParseList("linux/amd64,linux/arm64")
	release, _, _ := platform.ParseList(releaseDefault)
	return &Settings{
		Root: root, Platforms: platforms, Release: release,
		Bin: "bin/{name}-{os}-{arch}{variant}", LDFlags: "-s -w", CC: map[platform.Platform]string{},
		Engine: "auto", Labels: Metadata{Auto: true}, Annotations: Annotations{Auto: true},
		Verify: true, Out: "dist", MediaTypes: "oci", Compression: "gzip", SBOM: true,
		Load: "auto", ContainerTool: "docker", Cache: "auto",
		Leg: "{version}-{arch}{variant}", Progress: "auto", RetryMax: 5, RetryDelay: time.Second,
		Jobs: runtime.NumCPU(), Runners: defaultRunners(), From: map[string]string{}, given: map[string]string{},
	}
}
