package dockerfile

import (
	"bufio"
	"bytes"
	"context"
	"strings"

	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/patternmatcher"
)

// ignore is the ignore file that BuildKit chose and its patterns as BuildKit
// parsed them. A pattern that cannot be matched is an error at its line.
func (e *evaluation) ignore(ctx context.Context, bc *dockerui.Client, files *directory) (IgnoreFile, error) {
	patterns, err := bc.DockerIgnorePatterns(ctx)
	if err != nil {
		return IgnoreFile{}, e.fail(err)
	}
	ignore := IgnoreFile{Patterns: patterns}
	for _, name := range []string{e.in.Dockerfile + ".dockerignore", dockerui.DefaultDockerignoreName} {
		if data, ok := files.read[name]; ok {
			ignore.Path, ignore.Lines = name, patternLines(data)
			break
		}
	}
	for i, p := range patterns {
		if _, err := patternmatcher.New([]string{p}); err != nil {
			line := ignore.Lines[i]
			return IgnoreFile{}, &Error{File: ignore.Path, Range: newText(files.read[ignore.Path]).span(line, line),
				Cause: "pattern " + p + ": " + err.Error(), err: err}
		}
	}
	return ignore, nil
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
