package report

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/verify"
)

func annotations(t testing.TB, findings ...verify.Finding) string {
	t.Helper()
	var out bytes.Buffer
	if err := GitHub(&out, findings); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAnnotationsStandOnTheirLines(t *testing.T) {
	found, _ := check(t, "FROM scratch as a\nCOPY \\\n bin/app /app\n", "linux/arm64")
	want := "::warning file=Dockerfile,line=1,endLine=1,col=1,endColumn=18,title=FromAsCasing::'as' and 'FROM' keywords' casing do not match\n" +
		"::error file=Dockerfile,line=2,endLine=3,title=ArchBlindCopy::linux/amd64 and linux/arm64 copy the same bin/app\n"
	if got := annotations(t, found...); got != want {
		t.Errorf("got %s", got)
	}
	if got := annotations(t); got != "" {
		t.Errorf("nothing is %q", got)
	}
}

func TestAnnotationsEscape(t *testing.T) {
	want := "::error file=dir%3Ax/a b%2520c%3Ad%2Ce%0D%0A%3A%3Aerror%3A%3Ax?[31m?\"é☃\ufffd<&>##[error]/Dockerfile,line=2,endLine=2,col=3,endColumn=9,title=TargetArchUndeclared::" +
		"a b%2520c:d,e%0D%0A::error::x?[31m?\"é☃\ufffd<&>##[error]\n"
	if got := annotations(t, odd()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// runner reads a line as GitHub's does: the command ends at the first "::" after
// its properties, which are separated by commas.
func runner(line string) (command, file, message string, ok bool) {
	rest, ok := strings.CutPrefix(line, "::")
	if !ok {
		return "", "", "", false
	}
	head, message, ok := strings.Cut(rest, "::")
	command, properties, _ := strings.Cut(head, " ")
	for _, p := range strings.Split(properties, ",") {
		if value, is := strings.CutPrefix(p, "file="); is {
			file = value
		}
	}
	return command, unescaped(file), unescaped(message), ok
}

func unescaped(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "bad escape: " + text
	}
	return plain
}

func FuzzAnnotationIsOneCommand(f *testing.F) {
	f.Add("Dockerfile", "a copy")
	f.Add("a,line=9::\n::stop-commands::x", "x\r\n::set-output name=a::b%0A")
	f.Add("%0A%25", "##[warning]%%")
	f.Fuzz(func(t *testing.T, file, message string) {
		finding := odd()
		finding.File, finding.Message = file, message
		got := annotations(t, finding)
		if strings.Count(got, "\n") != 1 || strings.Contains(got, "\r") || !strings.HasPrefix(got, "::error file=") {
			t.Fatalf("%q is not one line", got)
		}
		if text := strings.NewReplacer("\r", "", "\n", "").Replace(file + " " + message); plain(text) != text {
			return // a terminal is not shown it
		}
		command, gotFile, gotMessage, ok := runner(strings.TrimSuffix(got, "\n"))
		if !ok || command != "error" || gotFile != file || gotMessage != message {
			t.Errorf("%q is read as %q %q %q", got, command, gotFile, gotMessage)
		}
	})
}
