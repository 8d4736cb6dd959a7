package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/archmage-go/archmage/build/verify"
)

// GitHub writes findings as workflow commands, one a line, which GitHub
// shows at their place in a pull request.
//
// GitHub takes columns only within one line, and those of longer findings are
// left out. What comes from outside can neither end a command nor begin one.
func GitHub(w io.Writer, findings []verify.Finding) error {
	var b bytes.Buffer
	for _, f := range findings {
		fmt.Fprintf(&b, "::%s file=%s,line=%d,endLine=%d", f.Severity, property(f.File), f.Start.Line, f.End.Line)
		if f.Start.Line == f.End.Line {
			fmt.Fprintf(&b, ",col=%d,endColumn=%d", f.Start.Column, f.End.Column)
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property(f.Rule), data(f.Message))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Annotation is a workflow command about no place of a file, a line with its
// end.
func Annotation(severity verify.Severity, title, message string) string {
	return fmt.Sprintf("::%s title=%s::%s\n", severity, property(title), data(message))
}

// data is text for a command's message; the runner takes the escapes back.
func data(text string) string {
	escaped := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
	return plain(escaped)
}

// property is text for a command's property.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}
