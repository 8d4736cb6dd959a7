package verify

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// editBlind is what --fix does for ArchBlindCopy.
func editBlind(s *state, list []*take) []Edit { return s.editSources(list, s.perArch) }

// editArch is what --fix does for WrongArchPath and VariantCollision.
func editArch(s *state, list []*take) []Edit { return s.editSources(list, s.archVariable) }

// editSources puts other sources into one instruction, and the ARGs that they
// need into its stage; nil where not all of it is certain.
func (s *state) editSources(list []*take, to func(*take) []target) []Edit {
	var edits []Edit
	for _, t := range first(list) {
		targets := to(t)
		if len(targets) != 1 {
			return nil
		}
		own := s.editSource(t, targets[0])
		if own == nil {
			return nil
		}
		edits = addEdits(edits, own...)
	}
	return edits
}

// editSource changes the word of one source. Where the destination is a
// directory the file must keep its name there, which has no variable, so the
// destination is changed too.
func (s *state) editSource(t *take, to target) []Edit {
	sources, dest, ok := t.r.File.Operands(t.ins)
	if !ok || len(t.copy.Include) > 0 || s.many(t) || s.dir(t) || !onlyAutomatic(t.written()) {
		return nil
	}
	source, ok := s.better(t, to)
	if !ok {
		return nil
	}
	var edits []Edit
	dir, sure := s.place(t)
	several := len(sources) > 1 || strings.Contains(t.ins.Text, "<<")
	own := path.Base(t.path)
	switch {
	case path.Base(source) == own:
	case several || !sure:
		return nil
	case dir && to.name != own:
		return nil
	case dir:
		word, _ := inQuotes(dest.Text)
		if edits = replaceWord(t.r, dest, within(word, own)); edits == nil {
			return nil
		}
	}
	words := replaceWord(t.r, sources[t.source], source)
	if words == nil {
		return nil
	}
	for _, name := range variables(source) {
		if (scope{t.r.File, t.ins}).definition(name) == nil {
			edits = addEdits(edits, declaration(t.r, t.ins.Stage, name))
		}
	}
	return append(edits, words...)
}

// better is the source nearest to what is written that takes each platform's own
// binary: one that a command makes, or that lies there.
func (s *state) better(t *take, to target) (source string, ok bool) {
	var list []string
	if old, plain := inQuotes(t.written()); plain {
		list = append(list, forTargetNames.Replace(old), old+"${TARGETVARIANT}")
		if prefix, ok := strings.CutSuffix(old, t.path); ok && (prefix == "./" || prefix == "/") {
			list = append(list, prefix+to.source)
		}
	}
	for _, source := range append(list, to.source) {
		right := func(p platform.Platform) bool {
			file, ok := expand(source, p)
			file = strings.TrimPrefix(path.Clean(file), "/")
			return ok && (s.bin.makes(file, p) || s.files.program(file) == p.Arch)
		}
		if source != t.written() && !strings.ContainsAny(source, " \t\r\n\"'\\`") && !slices.ContainsFunc(s.platforms(), func(p platform.Platform) bool { return !right(p) }) {
			return source, true
		}
	}
	return "", false
}

var forTargetNames = strings.NewReplacer("BUILDARCH", "TARGETARCH", "BUILDOS", "TARGETOS", "BUILDPLATFORM", "TARGETPLATFORM", "BUILDVARIANT", "TARGETVARIANT")

// editHoles declares what has no value, in the stages where it is used.
func editHoles(group []hole) []Edit {
	var edits []Edit
	for _, h := range group {
		for _, u := range h.in {
			if u.in.OnBuild {
				return nil
			}
			edits = addEdits(edits, declaration(h.r, u.in.Stage, u.name))
		}
	}
	return edits
}

// editDefaults takes the defaults away that win over the platform.
func editDefaults(group []defaulted) []Edit {
	var edits []Edit
	for _, d := range group {
		words, ok := d.r.File.ArgWords(d.ins)
		if !ok {
			return nil
		}
		for i, a := range d.ins.Args {
			if a.Default == nil || !slices.ContainsFunc(d.args, func(b dockerfile.Arg) bool { return b.Key == a.Key }) {
				continue
			}
			w := words[i]
			if w.Start == w.End {
				return nil
			}
			edits = addEdits(edits, Edit{File: d.r.Dockerfile, Start: w.Start + len(a.Key), End: w.End})
		}
	}
	return edits
}

// editIgnored lets binaries that are copied by name in again, at the end of the
// ignore file.
func editIgnored(s *state, list []*take) []Edit {
	var edits []Edit
	for _, t := range list {
		if s.many(t) {
			return nil
		}
		for _, file := range s.kept(t) {
			edits = addEdits(edits, lastLine(t.ignore.IgnoreFile, "!"+s.again(t, file)))
		}
	}
	return edits
}

// lastLine adds a line to an ignore file. One without a final line break stays
// so.
func lastLine(f dockerfile.IgnoreFile, text string) Edit {
	end := len(f.Data)
	if eol := lineBreak(f.Data); end > 0 && f.Data[end-1] != '\n' {
		text = eol + text
	} else {
		text += eol
	}
	return Edit{File: f.Path, Start: end, End: end, New: text}
}

// lineBreak is how the lines of a file end.
func lineBreak(data []byte) string {
	if i := bytes.LastIndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// declaration is an ARG in the line after a stage's FROM, spelt as that is.
func declaration(r *dockerfile.Recipe, stage int, name string) Edit {
	f := r.File
	from := f.Stages[stage].From
	start, end := f.Offsets(from.Range)
	line := bytes.LastIndexByte(f.Data[:start], '\n') + 1
	text := strings.TrimPrefix(string(f.Data[line:start]), "\ufeff")
	if word := strings.TrimLeft(from.Text, "\\` \t\r\n"); strings.HasPrefix(word, "from") {
		text += "arg " + name
	} else {
		text += "ARG " + name
	}
	e := Edit{File: r.Dockerfile, Start: len(f.Data), End: len(f.Data)}
	if i := bytes.IndexByte(f.Data[end:], '\n'); i >= 0 {
		e.Start, e.End = end+i+1, end+i+1
		e.New = text + lineBreak(f.Data[:e.End])
	} else {
		e.New = lineBreak(f.Data) + text
	}
	return e
}

// replaceWord puts text in the place of a word, with its quotes; nil where that
// is in pieces, or more of it than the whole is quoted. What single quotes
// enclose is not expanded, so they become double ones.
func replaceWord(r *dockerfile.Recipe, w dockerfile.Word, text string) []Edit {
	old, plain := inQuotes(w.Text)
	quoted := old != w.Text
	if w.Start == w.End || quoted && (!plain || w.Text[0] == '\'' && strings.Contains(old, "$")) {
		return nil
	}
	if quoted {
		text = `"` + text + `"`
	}
	if w.JSON {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(text) // a string always can be
		text = strings.TrimSuffix(b.String(), "\n")
	}
	return []Edit{{File: r.Dockerfile, Start: w.Start, End: w.End, New: text}}
}

// inQuotes is a word without the quotes around it. It is not plain where more of
// it is quoted or escaped.
func inQuotes(word string) (inner string, plain bool) {
	for _, q := range []string{`"`, `'`} {
		if len(word) > 1 && strings.HasPrefix(word, q) && strings.HasSuffix(word, q) {
			word = word[1 : len(word)-1]
			break
		}
	}
	return word, !strings.ContainsAny(word, "\"'\\`")
}

var variableUse = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expand is a word for a platform; ok is false where more than its arguments
// would have to be known.
func expand(text string, p platform.Platform) (out string, ok bool) {
	ok = true
	out = variableUse.ReplaceAllStringFunc(text, func(use string) string {
		value, known, automatic := automatic(strings.Trim(use, "${}"), p)
		ok = ok && known && automatic
		return value
	})
	return out, ok && !strings.Contains(out, "$")
}

func onlyAutomatic(text string) bool {
	return !slices.ContainsFunc(variables(text), func(name string) bool { return !isAutomatic(name) })
}

func addEdits(list []Edit, more ...Edit) []Edit {
	for _, e := range more {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}
