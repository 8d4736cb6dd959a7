// Package dockerfile turns a Dockerfile and a platform into a [Recipe]: the
// image's config and every file operation, as data. BuildKit's own front end
// does it, in this process, so variables, stages, ignore files, lint and
// history are BuildKit's by construction. It is the only package that knows
// BuildKit, and no type of BuildKit leaves it.
package dockerfile

import (
	"encoding/json"

	"github.com/archmage-go/archmage/build/platform"
)

// Recipe is one Dockerfile, evaluated for one platform and one target. It is
// pure data: two recipes can be compared, and building one needs no BuildKit.
// Equal input gives an equal recipe, byte for byte.
//
// Operations are listed so that every input precedes its use. Only what the
// target needs is listed, as in BuildKit's graph.
//
// Where only an engine can tell what the Dockerfile does, Config is nil, Ops
// holds the one operation that says why, and Context is the whole context.
type Recipe struct {
	Dockerfile string            // slash path relative to Input.Root
	Platform   platform.Platform // what it was evaluated for
	Target     string            // stage asked for; "" is the last one
	Stage      int               // index into File.Stages of the target; 0 where there are none
	Config     json.RawMessage   // the OCI image config, as BuildKit's front end makes it (history included, rootfs empty)
	Ops        []Op
	Result     int   // index into Ops of the image's tree; Scratch where nothing makes one
	FinalBase  *Base // what the target stage is built FROM, through stages of this file; nil is scratch
	Context    ContextUse
	Ignore     IgnoreFile
	Warnings   []Warning // BuildKit's own lint, in file order, each once
	Syntax     string    // the front end that the file asks for where it is not docker/dockerfile, else ""
	File       *File     // the source text, parsed; without stages where Syntax is set
}

// Scratch is the index that stands for the empty tree, in Recipe.Result,
// Op.Parent and Copy.From.
const Scratch = -1

// ContextUse is what the target's instructions read of the build context.
type ContextUse struct {
	Whole bool     // some source is the whole context
	Paths []string // what they name: cleaned, relative, variables expanded, wildcards kept, sorted, without "."; all that is read where Whole is false
}

// IgnoreFile is the one ignore file that counts, chosen by BuildKit's rule.
type IgnoreFile struct {
	Path     string   // slash path relative to Input.Root; "" where there is none
	Patterns []string // as BuildKit hands them to the client, without Input.Omit
	Lines    []int    // line of each pattern in Path, from 1
	Data     []byte   `json:"-"` // its content
}

// Range is a place in the Dockerfile; lines and columns count from 1, columns
// in characters. End is the last line and the column after its last character.
// BuildKit knows lines only, so columns are those of the text on these lines
// without leading blanks. A place that is unknown is the zero Range.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is a line and a column, both from 1. Column 0 is unknown.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Warning is a finding of BuildKit's linter.
type Warning struct {
	Rule        string // e.g. UndefinedVar
	Description string
	URL         string
	Message     string
	Ranges      []Range
}

// Kind says which field of an Op is set.
type Kind string

// The kinds that a Dockerfile can yield.
const (
	KindBase    Kind = "base"    // a base image, or COPY --from=image
	KindContext Kind = "context" // the build context
	KindFile    Kind = "file"    // one COPY, ADD or WORKDIR: one layer
	KindMerge   Kind = "merge"   // COPY --link: layers of Inputs, in order
	KindRun     Kind = "run"     // needs an engine
	KindHTTP    Kind = "http"    // ADD https://…
	KindGit     Kind = "git"     // ADD git source; needs an engine

	// KindFrontend is the only operation of a Dockerfile in another front
	// end's language; needs an engine.
	KindFrontend Kind = "frontend"
)

// Op is one operation of the graph.
type Op struct {
	Kind   Kind
	Name   string  // BuildKit's own title, e.g. "[2/3] COPY a /a"; the exporter writes it into history lines of layers that have none
	Ranges []Range // where it stands in the Dockerfile, several where equal instructions made one operation; nil for the context

	Inputs []int // every Op it needs, ascending, without Scratch; KindMerge: in merge order

	Base    *Base    // KindBase
	Context *Context // KindContext
	File    *FileOp  // KindFile
	Run     *Run     // KindRun
	HTTP    *HTTP    // KindHTTP
	URL     string   // KindGit: remote, then #ref:directory where given
}

// Base is an image that the recipe reads.
type Base struct {
	Ref      string            // normalised, e.g. docker.io/library/alpine:3.20; with the digest only where the Dockerfile has one
	Digest   string            // sha256:… of the manifest or index it was resolved to; "" where a stand-in served
	Platform platform.Platform // platform asked for
}

// Context says which files of the context an operation sees.
type Context struct {
	Name    string   // "context", or a named context
	Follow  []string // nil: everything
	Exclude []string // ignore patterns, then Input.Omit as patterns
}

// Run is a RUN. Its tree is Parent's, changed by a command.
type Run struct {
	Parent int
	Args   []string // argv, the shell included
	Env    []string // KEY=value: ENV and ARG in scope
	Mounts []Mount  // other trees it sees; caches, secrets and tmpfs without one are not listed
}

// Mount is a RUN --mount of another tree.
type Mount struct {
	From           int
	Source, Target string // absolute; Source is in From's tree
}

// HTTP is a remote file to fetch.
type HTTP struct {
	URL      string
	Checksum string // sha256:…, or ""
	Filename string // name of the file in the operation's tree
	Mode     uint32 // permission bits; 0600 is what BuildKit v0.34.2 gives
}

// FileOp is a chain of actions, each on the result of the one before. All of
// them make one layer.
type FileOp struct {
	Parent  int // tree the first action works on
	Actions []Action
}

// Action is one step of a FileOp: exactly one field is set.
type Action struct {
	Copy  *Copy  `json:",omitempty"`
	Mkdir *Mkdir `json:",omitempty"`
	Write *Write `json:",omitempty"` // only in the trees that heredocs are copied from
}

// Copy takes files from another tree.
type Copy struct {
	From  int    // Op whose tree holds Src; Scratch is the empty tree
	Src   string // absolute in From's tree, cleaned, may hold wildcards
	Dest  string // absolute, destination symlinks not resolved; a trailing slash says directory
	Owner *Owner // nil keeps the source's
	Mode  string // "" keeps; octal ("0755") or symbolic ("u+x,go-r")

	Include, Exclude []string // patternmatcher patterns
	RequiredPaths    []string // must match an included path

	FollowSymlink      bool
	DirContents        bool // a directory's content, not the directory
	Unpack             bool // unpack an archive (ADD)
	CreateDestPath     bool
	Wildcard           bool
	AllowEmptyWildcard bool
	AlwaysReplace      bool  // replace a destination of another type
	Timestamp          int64 // Unix nanoseconds for what is copied, -1 keeps each file's
}

// Mkdir makes a directory (WORKDIR).
type Mkdir struct {
	Path      string
	Mode      uint32
	Parents   bool
	Owner     *Owner
	Timestamp int64 // Unix nanoseconds, -1 is now
}

// Write makes a file (heredoc).
type Write struct {
	Path      string
	Mode      uint32
	Data      []byte
	Owner     *Owner
	Timestamp int64
}

// Owner is who a file shall belong to. A nil part leaves what the other gives.
type Owner struct {
	User, Group *Name
}

// Name is a numeric id, or a name to look up in /etc/passwd or /etc/group of
// tree In, which Scratch makes an error.
type Name struct {
	ID   uint32
	Name string // "": ID counts
	In   int    // Op whose tree holds the account files, before this operation; Scratch where ID counts
}

// File is a Dockerfile's text by stage, for rules that judge what is written
// rather than what it means.
type File struct {
	Path   string
	Data   []byte
	Check  Check         `json:",omitzero"`
	Global []Instruction // ARGs before the first FROM
	Stages []Stage

	escape byte // continues lines, as the directive says; 0 is the backslash
}

// Stage is one FROM and what follows it.
type Stage struct {
	Name      string // as named by AS, else ""
	Base      string // as written
	Platform  string // --platform as written, or ""
	Reachable bool   // the target needs it

	// What its FROM means for the recipe's platform.
	Expanded  string            // Base with variables expanded
	Parent    int               // the earlier stage that Expanded names; -1 is an image or scratch
	For       platform.Platform // asked of the image; that of the recipe where Platform is "". A Parent's is its own
	HostBound bool              // For depends on the machine that builds

	From         Instruction
	Instructions []Instruction
}

// Instruction is one instruction as written.
type Instruction struct {
	Keyword string // upper case
	Shell   bool   `json:",omitempty"` // ENTRYPOINT, CMD: in shell form, broken JSON too
	Text    string // exactly what Range spans: continuations, comments among them and heredocs included
	Range   Range
	Stage   int      // index into Stages; -1 before the first FROM
	Args    []Arg    // ARG: each key, and default if any
	Sources []string // COPY, ADD: unexpanded, without heredocs
	Dest    string   // COPY, ADD: unexpanded
	From    string   // COPY --from as written
	Mounts  []string // RUN --mount: each from= as written, "" where there is none
	OnBuild bool     // came from a base's trigger: Text is the trigger, Range the FROM's; only in reachable stages
	Skip    Skip     `json:",omitzero"` // from a comment `# check=skip=…` above it
}

// Check is what `# check=…` at the top of a file says of lint rules. Build
// argument BUILDKIT_DOCKERFILE_CHECK stands in its place. A recipe is made
// whatever it says.
type Check struct {
	Skip
	Error bool // BuildKit would build nothing while a rule warns (error=true)
}

// Skip names lint rules that shall be silent. BuildKit's own obey already.
type Skip struct {
	All   bool     // skip=all
	Rules []string // as written, sorted; BuildKit takes any word
}

// Arg is one key of an ARG.
type Arg struct {
	Key     string
	Default *string // nil: none; quotes and variables as written
}
