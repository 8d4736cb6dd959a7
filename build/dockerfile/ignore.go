package dockerfile

import (
	"bufio"
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/patternmatcher"
)

// ignore is the ignore file that BuildKit chose and its patterns as BuildKit
// parsed them. A pattern that cannot be matched is an error at its line.
func (e *evaluation) ignore(ctx context.Context, bc *dockerui.Client, g *gateway) (IgnoreFile, error) {
	patterns, err := bc.DockerIgnorePatterns(ctx)
	if err != nil {
		return IgnoreFile{}, e.fail(err)
	}
	ignore := IgnoreFile{Patterns: patterns}
	data, found := g.dockerfile.read[e.in.Dockerfile+dockerui.DefaultDockerignoreName]
	if found {
		ignore.Path = e.in.Dockerfile + dockerui.DefaultDockerignoreName
	} else if data, found = g.context.read[dockerui.DefaultDockerignoreName]; found {
		ignore.Path = e.in.fromRoot(dockerui.DefaultDockerignoreName)
	}
	ignore.Lines, ignore.Data = patternLines(data), data
	for i, p := range patterns {
		if _, err := patternmatcher.New([]string{p}); err != nil {
			line := ignore.Lines[i]
			return IgnoreFile{}, &Error{
				File: ignore.Path, Range: newText(data).span(line, line),
				Cause: "pattern " + p + ": " + err.Error(), err: err,
			}
		}
	}
	return ignore, nil
}

// fromRoot is the path of a file of the context as seen from Root, where the
// context lies in it.
func (in Input) fromRoot(name string) string {
	rel, err := filepath.Rel(in.Root, in.Context)
	if err != nil {
		return name
	}
	return path.Join(filepath.ToSlash(rel), name)
}

// patternLines lists the lines of an ignore file that are patterns, by the
// rules of moby/patternmatcher's ignorefile: a comment starts in column 1, and
// a line of blanks is none.
func patternLines(data []byte) []int {
	var lines []int
	scanner := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, bom)))
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			lines = append(lines, n)
		}
	}
	return lines
}
