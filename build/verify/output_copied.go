package verify

import (
	"path"
	"strings"
)

// output is OutputCopied: nothing below that directory is sent to a builder, so
// a name is not found and a pattern takes nothing.
func output(s *state, t *take) bool {
	dir := path.Clean(s.Out)
	return s.Out != "" && dir != "." && (t.path == dir || strings.HasPrefix(t.path, dir+"/"))
}

func tellOutput(s *state, list []*take) (message, fix string) {
	dir := path.Clean(s.Out)
	message = whoCopies(list, itsPath) + ": " + dir + " is archmage's own output directory, which no build context has; set IMAGE_OUT to another one"
	return message, ""
}
