package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/archmage-go/archmage/build/platform"
)

// Print writes the plan as tables for people. With verbose, also what was
// passed over, and why.
func (p *Plan) Print(w io.Writer, verbose bool) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	p.printCommands(t)
	p.printImages(t)
	for _, l := range p.LeftOut {
		fmt.Fprintf(t, "\nleft out: %s %s, %s\n", l.Image, l.Platform, l.Why)
	}
	if verbose {
		printSkipped(t, p.Skipped)
	}
	return t.Flush()
}

func (p *Plan) printCommands(w io.Writer) {
	if len(p.Commands) == 0 {
		return
	}
	fmt.Fprintln(w, "COMMAND\tDIRECTORY\tCOMPILED FOR")
	for _, c := range p.Commands {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Name, c.Dir, p.compiled(c))
	}
	fmt.Fprintln(w)
}

// compiled says for which platforms a command is compiled, or why it is not.
func (p *Plan) compiled(c Command) string {
	var on []platform.Platform
	for _, b := range p.Binaries {
		if b.Command == c.Name {
			on = append(on, b.Platform)
		}
	}
	switch {
	case len(on) > 0:
		return Words(on)
	case c.Rebuilt != "":
		return "- its image compiles it from source: " + c.Rebuilt
	}
	return "- no selected image copies it"
}

// Words is a list of platforms, separated by blanks.
func Words(list []platform.Platform) string {
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = p.String()
	}
	return strings.Join(text, " ")
}

func (p *Plan) printImages(w io.Writer) {
	if len(p.Images) == 0 {
		fmt.Fprintln(w, "no images: no Dockerfile in dockerfiles/, cmd/<name>/, build/<name>/ or the root")
		return
	}
	fmt.Fprintln(w, "IMAGE\tDOCKERFILE\tCOPIES\tPLATFORM\tTAG\tENGINE")
	for _, img := range p.Images {
		for i, leg := range p.legs(img.Name) {
			name, file, copies := "", "", ""
			if i == 0 {
				name, file, copies = img.Name, img.Dockerfile, dash(strings.Join(img.Binaries, " "))
				if img.Target != "" {
					file += " (" + img.Target + ")"
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, file, copies, leg.Platform, leg.Tag, engine(leg))
		}
	}
}

func (p *Plan) legs(image string) []Leg {
	var legs []Leg
	for _, l := range p.Legs {
		if l.Image == image {
			legs = append(legs, l)
		}
	}
	return legs
}

func engine(l Leg) string {
	if l.Engine == "" {
		return "none: " + l.Why
	}
	return l.Engine + ": " + l.Why
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func printSkipped(w io.Writer, skipped []Skipped) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintln(w, "\nPASSED OVER\tWHY")
	for _, s := range skipped {
		fmt.Fprintf(w, "%s\t%s\n", s.Dir, s.Reason)
	}
}
