package compile

import (
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/run"
)

// The go command compiles packages at once and writes each one's messages as it
// fails.
func TestFailuresAreInTheOrderOfTheCommands(t *testing.T) {
	g := batch{binaries: []plan.Binary{{Command: "b", Package: "m/b"}, {Command: "a", Package: "m/a"}}}
	for _, text := range []string{
		"go: warning\n# m/a\na.go:1: x\n# m/lib\nlib.go:1: x\n# m/b\nb.go:1: x\n# m/dep\ndep.go:1: x\n",
		"go: warning\n# m/dep\ndep.go:1: x\n# m/b\nb.go:1: x\n# m/a\na.go:1: x\n# m/lib\nlib.go:1: x\n",
	} {
		err := report([]result{{group: g, said: []said{{g, text, &run.ExitError{Name: "go", Code: 1}}}}})
		var order []string
		for line := range strings.Lines(err.Error()) {
			order = append(order, strings.Fields(line)[1])
		}
		if got := strings.Join(order, " "); got != "b, m/dep m/lib m/b m/a" {
			t.Errorf("%s\nin\n%v", got, err)
		}
	}
}
