package build

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/archmage-go/archmage/build/config"
)

// printValues writes where each setting came from as a table.
func printValues(w io.Writer, values []config.Value) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "\nSETTING\tFROM\tVALUE")
	for _, v := range values {
		text := v.Text
		if text == "" {
			text = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Name, v.From, text)
	}
	return t.Flush()
}
