package audit

import (
	"slices"
	"strings"
)

// goInfo compares what the go command recorded: the header is the same for all
// variants of an architecture, so only this tells GOARM=7 from GOARM=6.
func (j *judge) goInfo(p Program) {
	name, own := j.want.GoVar()
	goos, hasOS := p.setting("GOOS")
	goarch, hasArch := p.setting("GOARCH")
	switch {
	case hasOS && goos != j.want.OS:
		j.wrong("built with GOOS=%s", goos)
	case hasArch && goarch != j.want.Arch:
		j.wrong("built with GOARCH=%s", goarch)
	case !hasOS || !hasArch:
		j.unsure("no Go build info, so only the header was compared%s", variantOf(name))
	case name != "":
		j.variant(p, name, own)
	}
}

func variantOf(name string) string {
	if name == "" {
		return ""
	}
	return ", not " + name
}

// variant compares the value of GOARM and its like. Options may follow it: code
// for ",softfloat" runs wherever the value does; ",hardfloat" is what GOARM=6
// and above mean anyway, and ",lse" what GOARM64=v8.1 and above do.
func (j *judge) variant(p Program, name, own string) {
	recorded, ok := p.setting(name)
	value, options, _ := strings.Cut(recorded, ",")
	runs := j.want.Runs()
	switch {
	case !ok:
		j.unsure("the Go build info has no %s", name)
	case !slices.Contains(runs, value):
		j.wrong("built with %s=%s, want at most %s", name, recorded, own)
	case options == "" || options == "softfloat":
	case options == "hardfloat" && slices.Contains(runs, "6"):
	case options == "lse" && slices.Contains(runs, "v8.1"):
	default:
		j.unsure("built with %s=%s, and %s does not say whether it has %s", name, recorded, j.want, options)
	}
}
