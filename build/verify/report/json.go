package report

import (
	"encoding/json"
	"io"

	"github.com/archmage-go/archmage/build/verify"
)

// JSON writes {"version": 1, "findings": […]}, indented. Fields are only
// ever added.
func JSON(w io.Writer, findings []verify.Finding) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version  int              `json:"version"`
		Findings []verify.Finding `json:"findings"`
	}{1, append([]verify.Finding{}, findings...)})
}
