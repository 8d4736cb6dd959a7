package dockerfile

import (
	"reflect"
	"testing"
)

func TestEngineIsNeededForReachableOnly(t *testing.T) {
	for _, c := range []struct {
		name, text, target string
		kind               Kind
		line               int
	}{
		{"files alone", "FROM alpine\nCOPY a /a\nWORKDIR /w\nADD https://example.com/x /x", "", "", 0},
		{"RUN", "FROM alpine\nCOPY a /a\nRUN x \\\n y\nRUN z", "", KindRun, 3},
		{"RUN of an unused stage", "FROM alpine AS b\nRUN x\nFROM scratch\nCOPY a /a", "", "", 0},
		{"RUN of a used stage", "FROM alpine AS b\nRUN x\nFROM alpine\nRUN y\nCOPY --from=b /a /a", "", KindRun, 2},
		{"RUN after the target", "FROM alpine AS b\nFROM b\nRUN x", "b", "", 0},
		{"git", "FROM scratch\nADD https://github.com/a/b.git /b", "", KindGit, 2},
		{"git over ssh", "FROM scratch\nADD git@github.com:a/b.git /b", "", KindGit, 2},
		{"foreign front end", "# syntax=example.com/other:1\nanything", "", KindFrontend, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(t, c.text+"\n")
			in.Target = c.target
			op, ok := evaluate(t, in).NeedsEngine()
			if op.Kind != c.kind || ok != (c.kind != "") || op.line() != c.line {
				t.Errorf("%s at line %d, want %s at line %d", op.Kind, op.line(), c.kind, c.line)
			}
		})
	}
}

func TestContextCopiesAreByInstruction(t *testing.T) {
	r := evaluate(t, input(t, `FROM alpine AS b
COPY ./bin/a bin/../bin/b /x/
RUN --mount=source=bin/c,target=/c x
FROM scratch
COPY --parents bin/./d e/f /y/
COPY --from=b /x /x
COPY . /all
COPY bin/*-linux /g/
`))
	type row struct {
		line, action int
		paths        []string
	}
	var got []row
	for _, c := range r.ContextCopies() {
		got = append(got, row{c.Range.Start.Line, c.Action, c.Paths})
		if file := r.Ops[c.Op].File; c.Action >= 0 && file.Actions[c.Action].Copy == nil {
			t.Errorf("action %d of operation %d is no copy", c.Action, c.Op)
		}
	}
	want := []row{
		{5, 0, []string{"bin/d"}},
		{5, 1, []string{"e/f"}},
		{2, 0, []string{"bin/a"}},
		{2, 1, []string{"bin/b"}},
		{3, -1, []string{"bin/c"}},
		{7, 0, []string{"."}},
		{8, 0, []string{"bin/*-linux"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if want := (ContextUse{Whole: true, Paths: []string{"bin/*-linux", "bin/a", "bin/b", "bin/c", "bin/d", "e/f"}}); !reflect.DeepEqual(r.Context, want) {
		t.Errorf("context %v, want %v", r.Context, want)
	}
}

func TestEqualCopiesAreListedForEachPlace(t *testing.T) {
	r := evaluate(t, input(t, "FROM scratch AS a\nCOPY f /f\nFROM scratch AS b\nCOPY f /f\nFROM scratch\nCOPY --from=a /f /1\nCOPY --from=b /f /2\n"))
	var lines []int
	for _, c := range r.ContextCopies() {
		lines = append(lines, c.Range.Start.Line)
	}
	if !reflect.DeepEqual(lines, []int{2, 4}) {
		t.Errorf("lines %v", lines)
	}
}

func TestReachesResultFollowsPaths(t *testing.T) {
	r := evaluate(t, input(t, `FROM scratch AS helper
COPY h /h
FROM golang AS b
COPY --from=helper /h /src
COPY tool /out/tool
RUN go build
COPY conf /etc/app/conf
FROM scratch AS linked
COPY l /l
COPY m /m
FROM alpine
COPY --link --from=linked /l /l
COPY --from=b /out/* /bin/
COPY --from=b --parents /etc/app/./conf /etc/
WORKDIR /w
`))
	want := map[int]bool{2: false, 4: false, 5: true, 6: true, 7: true, 9: true, 10: false, 12: true, 13: true, 14: true, 15: true}
	for i, op := range r.Ops {
		if op.Kind == KindContext {
			if !r.ReachesResult(i) {
				t.Error("the context does not reach the result")
			}
			continue
		}
		for _, at := range op.Ranges {
			if w, ok := want[at.Start.Line]; ok && r.ReachesResult(i) != w {
				t.Errorf("line %d (%s): reaches %v, want %v", at.Start.Line, op.Name, !w, w)
			}
		}
	}
	if r.ReachesResult(Scratch) || r.ReachesResult(len(r.Ops)) {
		t.Error("an operation that is not there reaches the result")
	}
	if (&Recipe{Result: Scratch}).ReachesResult(0) {
		t.Error("something reaches the empty result")
	}
}
