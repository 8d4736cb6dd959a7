package build

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Version is what the linker sets (-X) for a release. Where it did not, the
// module's own version counts.
var Version string

// Info is what an archmage binary knows of itself.
type Info struct {
	Version  string
	Revision string // of the checkout it was compiled from; "" where unknown
	BuildKit string // version of the Dockerfile front end
	Go       string
}

// ReadVersion reads the build information of the running program.
func ReadVersion() Info {
	info := Info{Version: Version, BuildKit: "unknown"}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.Go = b.GoVersion
	if info.Version == "" {
		info.Version = strings.Trim(b.Main.Version, "()")
	}
	for _, m := range append([]*debug.Module{&b.Main}, b.Deps...) {
		switch m.Path {
		case "github.com/moby/buildkit":
			info.BuildKit = m.Version
		case "github.com/archmage-go/archmage":
			if info.Version == "" {
				info.Version = m.Version // a command of another module, such as a magefile
			}
		}
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" {
			info.Revision = s.Value
		}
	}
	return info
}

// String is one line for people.
func (i Info) String() string {
	revision := ""
	if i.Revision != "" {
		revision = ", revision " + i.Revision
	}
	return fmt.Sprintf("archmage %s%s, BuildKit front end %s, %s, %s", i.Version, revision, i.BuildKit, i.Go, platform.Host())
}
