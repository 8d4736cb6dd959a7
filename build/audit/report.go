package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/archmage-go/archmage/build/platform"
)

// said is a finding in JSON.
type said struct {
	Ref      string            `json:"ref"`
	Platform platform.Platform `json:"platform"` // "" where it is about the index
	Message  string            `json:"message"`
	Fix      string            `json:"fix,omitempty"`
}

// audited is a reference in JSON.
type audited struct {
	Ref       string              `json:"ref"`
	Digest    string              `json:"digest"`
	Platforms []platform.Platform `json:"platforms"`
	Programs  int                 `json:"programs"`
}

// WriteJSON writes {"version": 1, "refs": […], "findings": […],
// "notChecked": […]}, indented. Fields are only ever added.
func WriteJSON(w io.Writer, reports []Report) error {
	out := struct {
		Version    int       `json:"version"`
		Refs       []audited `json:"refs"`
		Findings   []said    `json:"findings"`
		NotChecked []said    `json:"notChecked"`
	}{1, []audited{}, []said{}, []said{}}
	for _, r := range reports {
		out.Refs = append(out.Refs, audited{r.Ref, r.Digest, append([]platform.Platform{}, r.Platforms...), r.Programs})
		for _, f := range r.Findings {
			one := said{r.Ref, f.Platform, f.Message, f.Fix}
			if f.NotChecked {
				out.NotChecked = append(out.NotChecked, one)
			} else {
				out.Findings = append(out.Findings, one)
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// WriteText writes findings for people, one line each and below it what to do.
// Everything from outside is written without control characters.
func WriteText(w io.Writer, reports []Report) error {
	var b bytes.Buffer
	for _, r := range reports {
		for _, f := range r.Findings {
			fmt.Fprintln(&b, plain(strings.TrimSuffix(r.Ref+" "+f.Error(), " ")))
			if f.Fix != "" {
				fmt.Fprintf(&b, "    fix | %s\n", plain(f.Fix))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// plain makes text harmless for a terminal, and one line. GitHub's runner takes
// "##[" for a command wherever it stands in a log.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ReplaceAll(text, "##[", "## ["))
}
