package compile

import (
	"fmt"
	"strings"
)

// ldflags are the caller's and the version's, as one argument that the go
// command splits: at blanks, with quotes around whole words and no escapes.
func ldflags(o Options) (string, error) {
	words, err := split(o.LDFlags)
	if err != nil {
		return "", err
	}
	words, merged := joinValues(words)
	text := o.LDFlags
	if o.VersionPkg != "" && o.Version != "" && o.Version != "latest" {
		words, merged = append(words, "-X", o.VersionPkg+".Version="+o.Version), true
	}
	if !merged {
		return text, nil
	}
	for i, w := range words {
		value := i > 0 && (words[i-1] == "-X" || words[i-1] == "--X")
		if words[i], err = quote(w, value); err != nil {
			return "", err
		}
	}
	return strings.Join(words, " "), nil
}

// joinValues puts together what belongs to a -X: the linker takes no other words
// that do not begin with a dash, so in `-X main.date=Mon Jan 2 -s`, which is
// what `-X main.date=$(shell date)` comes out as, it is all the value.
func joinValues(words []string) (joined []string, changed bool) {
	value := false // the last of joined is the value of a -X
	for i, w := range words {
		switch {
		case i > 0 && (words[i-1] == "-X" || words[i-1] == "--X") && !value:
			joined, value = append(joined, w), true
		case value && !strings.HasPrefix(w, "-"):
			joined[len(joined)-1] += " " + w
			changed = true
		default:
			joined, value = append(joined, w), attached(w)
		}
	}
	return joined, changed
}

// attached reports a -X that has its value in the same word.
func attached(w string) bool { return strings.HasPrefix(w, "-X=") || strings.HasPrefix(w, "--X=") }

const blanks = " \t\r\n"

// split is how the go command splits a list of flags.
func split(text string) ([]string, error) {
	var words []string
	for rest := strings.Trim(text, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		if q := rest[0]; q == '\'' || q == '"' {
			end := strings.IndexByte(rest[1:], q)
			if end < 0 {
				return nil, badFlags("unterminated %c in %s", q, text)
			}
			words, rest = append(words, rest[1:1+end]), rest[end+2:]
			continue
		}
		end := strings.IndexAny(rest, blanks)
		if end < 0 {
			end = len(rest)
		}
		words, rest = append(words, rest[:end]), rest[end:]
	}
	return words, nil
}

// quote makes w one word for split, with quotes only where it needs them or
// always. A first word `all=-s`, which names packages, must have none.
func quote(w string, always bool) (string, error) {
	single, double := strings.Contains(w, "'"), strings.Contains(w, `"`)
	switch {
	case single && double:
		return "", badFlags("both kinds of quotes in %s", w)
	case single:
		return `"` + w + `"`, nil
	case double || always || w == "" || strings.ContainsAny(w, blanks):
		return "'" + w + "'", nil
	}
	return w, nil
}

// badFlags says that no quoting makes the text mean something to the go command.
func badFlags(format string, args ...any) error {
	return &UsageError{
		cause: "linker flags: " + fmt.Sprintf(format, args...),
		hint:  "the go command knows quotes around a whole word alone, and no escapes: -X 'main.Version=a b'",
	}
}
