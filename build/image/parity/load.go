package parity

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Cases reads every case of a directory: NAME.txtar is one case, NAME.table many
// that share a context. A table is a txtar file too; its comment holds what the
// cases have in common, and its file !table one case per paragraph:
//
//	= name
//	platforms: …, refuses: … and other directives, as in a case
//	the Dockerfile
//	+++ name
//	another file, which replaces a shared one of that name
//
// The case is called NAME_name. Cases come in the order of files and lines.
func Cases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.t*"))
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		base := filepath.Base(f)
		name := strings.TrimSuffix(base, filepath.Ext(base))
		var more []Case
		if filepath.Ext(base) == ".table" {
			more, err = parseTable(name, data)
		} else {
			more = make([]Case, 1)
			more[0], err = ParseCase(name, data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, more...)
	}
	return out, unique(out)
}

func unique(cases []Case) error {
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Name] {
			return fmt.Errorf("two cases are called %s", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

func parseTable(name string, data []byte) ([]Case, error) {
	shared := txtar.Parse(data)
	var table string
	var files []txtar.File
	for _, f := range shared.Files {
		if f.Name == "!table" {
			table = string(f.Data)
		} else {
			files = append(files, f)
		}
	}
	var out []Case
	for _, part := range strings.Split("\n"+table, "\n= ")[1:] {
		row, body, _ := strings.Cut(part, "\n")
		texts := strings.Split(body, "\n+++ ")
		comment, dockerfile := splitRow(texts[0])
		own := []txtar.File{{Name: "Dockerfile", Data: []byte(dockerfile)}}
		for _, text := range texts[1:] {
			at, data, _ := strings.Cut(text, "\n")
			own = append(own, txtar.File{Name: at, Data: []byte(strings.TrimSuffix(data, "\n") + "\n")})
		}
		a := txtar.Archive{
			Comment: []byte(string(shared.Comment) + "\n" + comment),
			Files:   append(own, without(files, own)...),
		}
		c, err := ParseCase(name+"_"+strings.TrimSpace(row), txtar.Format(&a))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// without is files less those that own has too.
func without(files, own []txtar.File) []txtar.File {
	return slices.DeleteFunc(slices.Clone(files), func(f txtar.File) bool {
		return slices.ContainsFunc(own, func(o txtar.File) bool { return o.Name == f.Name })
	})
}

// splitRow parts leading directives, which are lower-case words with a colon,
// from the Dockerfile.
func splitRow(body string) (comment, dockerfile string) {
	for body != "" {
		line, rest, _ := strings.Cut(body, "\n")
		key, _, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" {
			break
		}
		comment += line + "\n"
		body = rest
	}
	return comment, strings.TrimSuffix(body, "\n") + "\n"
}
