package dockerfile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestFileIsTheTextByStage(t *testing.T) {
	text := "# escape=`\n" +
		"ARG V=\"3.1\" W\n" +
		"  from --platform=$BUILDPLATFORM alpine:$V as Build\n" +
		"COPY a `\n" +
		"  # between\n" +
		"\n" +
		"  b /x/\n" +
		"\n" +
		"FROM scratch\n" +
		"COPY --from=build [\"a b\", \"/é\"]  \n" +
		"RUN --mount=from=build,target=/b <<EOF\n" +
		"one\n" +
		"EOF\n" +
		"RUN --mount=type=cache,target=/c x"
	f := evaluate(t, input(t, text)).File
	want := []string{
		`-1 ARG 2:1-2:14 args V="3.1" W`,
		`0 FROM 3:3-3:52`,
		`0 COPY 4:1-7:8 sources [a b] dest /x/`,
		`1 FROM 9:1-9:13`,
		`1 COPY 10:1-10:34 sources [a b] dest /é from build`,
		`1 RUN 11:1-13:4 mounts ["build"]`,
		`1 RUN 14:1-14:35 mounts [""]`,
	}
	var got []string
	for _, ins := range all(f) {
		got = append(got, describe(ins))
		if start, end := f.Offsets(ins.Range); string(f.Data[start:end]) != ins.Text {
			t.Errorf("%s: text %q, but the range spans %q", ins.Keyword, ins.Text, f.Data[start:end])
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if st := f.Stages[0]; st.Name != "build" || st.Base != "alpine:$V" || st.Platform != "$BUILDPLATFORM" {
		t.Errorf("stage %+v", st)
	}
}

// all lists a file's instructions in its order.
func all(f *File) []Instruction {
	list := f.Global
	for _, st := range f.Stages {
		list = append(append(list, st.From), st.Instructions...)
	}
	return list
}

func describe(ins Instruction) string {
	r := ins.Range
	s := fmt.Sprintf("%d %s %d:%d-%d:%d", ins.Stage, ins.Keyword, r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
	if ins.Args != nil {
		s += " args"
		for _, a := range ins.Args {
			s += " " + a.Key
			if a.Default != nil {
				s += "=" + *a.Default
			}
		}
	}
	if ins.Sources != nil {
		s += fmt.Sprint(" sources ", ins.Sources, " dest ", ins.Dest)
	}
	if ins.From != "" {
		s += " from " + ins.From
	}
	if ins.Mounts != nil {
		s += fmt.Sprintf(" mounts %q", ins.Mounts)
	}
	return s
}

func TestFormOfWhatStarts(t *testing.T) {
	for text, shell := range map[string]bool{
		"ENTRYPOINT /app -v":               true,
		"ENTRYPOINT ['/app']":              true,
		"entrypoint [\"/app\", ]":          true,
		"CMD [/app]":                       true,
		"CMD exec /app":                    true,
		"ENTRYPOINT [\"/app\"]":            false,
		"ENTRYPOINT []":                    false,
		"ENTRYPOINT [\"/app\", \\\n\"a\"]": false,
		"CMD  [ \"/app\" ] ":               false,
		"USER app":                         false,
	} {
		f := evaluate(t, input(t, "FROM scratch\n"+text+"\n")).File
		if got := f.Stages[0].Instructions[0].Shell; got != shell {
			t.Errorf("%s: shell form %v", text, got)
		}
	}
}

func TestTextKeepsLineEndsAndStartsAfterTheMark(t *testing.T) {
	f := evaluate(t, input(t, "\ufeffFROM scratch\r\nCOPY a \\\r\n\tb /x/\r\n")).File
	if got := f.Stages[0].From; got.Text != "FROM scratch" || got.Range.Start != (Position{1, 1}) || got.Range.End != (Position{1, 13}) {
		t.Errorf("FROM %+v", got)
	}
	ins := f.Stages[0].Instructions[0]
	if ins.Text != "COPY a \\\r\n\tb /x/" || ins.Range.End != (Position{3, 7}) || !reflect.DeepEqual(ins.Sources, []string{"a", "b"}) {
		t.Errorf("COPY %+v", ins)
	}
	for _, ins := range all(f) {
		if start, end := f.Offsets(ins.Range); string(f.Data[start:end]) != ins.Text {
			t.Errorf("range spans %q, text is %q", f.Data[start:end], ins.Text)
		}
	}
}

func TestReachableIsWhatTheTargetNeeds(t *testing.T) {
	for _, c := range []struct{ name, text, target, want string }{
		{"the last one", "FROM scratch AS a\nFROM scratch AS b", "", "b"},
		{"the target", "FROM scratch AS a\nFROM scratch AS b", "A", "a"},
		{"through FROM", "FROM scratch AS a\nFROM a AS b\nFROM b AS c\nFROM scratch AS d", "c", "a b c"},
		{"through FROM with an argument", "ARG X=a\nFROM scratch AS a\nFROM scratch AS b\nFROM ${X} AS c", "", "a c"},
		{"through FROM with the platform", "FROM scratch AS base-arm64\nFROM scratch AS base-amd64\nFROM base-${TARGETARCH} AS c", "", "base-arm64 c"},
		{"by a global default instead of the platform", "ARG TARGETARCH=amd64\nFROM scratch AS arm64-base\nFROM scratch AS amd64-base\nFROM ${TARGETARCH}-base AS c", "", "amd64-base c"},
		{"through COPY --from a name", "FROM scratch AS a\nFROM scratch AS b\nCOPY --from=A /x /x", "", "a b"},
		{"through COPY --from an index", "FROM scratch AS a\nFROM scratch AS b\nFROM scratch AS c\nCOPY --from=1 /x /x", "", "b c"},
		{"through RUN --mount", "FROM scratch AS a\nFROM scratch AS b\nRUN --mount=type=bind,from=a,target=/a true", "", "a b"},
		{"through a trigger of a stage", "FROM scratch AS a\nFROM scratch AS b\nONBUILD COPY --from=a /x /x\nFROM b AS c", "", "a b c"},
		{"not through a grandparent's trigger", "FROM scratch AS a\nFROM scratch AS b\nONBUILD COPY --from=a /x /x\nFROM b AS c\nFROM c AS d", "b", "b"},
		{"an image that is named like a later stage", "FROM alpine AS x\nFROM busybox AS alpine", "x", "x"},
		{"the last of a name", "FROM scratch AS a\nFROM alpine AS a\nFROM scratch AS b\nCOPY --from=a /x /x", "", "a#1 b"},
		{"the last of a name before FROM", "FROM scratch AS a\nFROM a AS b\nFROM scratch AS a", "b", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(t, c.text+"\n")
			in.Target = c.target
			var got []string
			seen := map[string]int{}
			for _, st := range evaluate(t, in).File.Stages {
				name := st.Name
				if n := seen[name]; n > 0 {
					name = fmt.Sprintf("%s#%d", name, n)
				}
				seen[st.Name]++
				if st.Reachable {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("reachable %v, want %s", got, c.want)
			}
		})
	}
}

func TestTriggersOfABaseAreInstructions(t *testing.T) {
	in := input(t, "FROM scratch AS extra\nCOPY e /e\nFROM base AS child\nENV X=1\nFROM child\n")
	in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/base:latest": imageOf(
		`{"OnBuild":["ARG TARGETARCH","COPY bin/$TARGETARCH /app","COPY --from=extra /e /e","RUN make"]}`)}}
	r := evaluate(t, in)
	want := `0 base L3 docker.io/library/base:latest linux/arm64
1 context [bin/arm64 e]-[]
2 file L3 on 0: copy 1:/bin/arm64 /app
3 file L2 on -1: copy 1:/e /e
4 file L3 on 2: copy 3:/e /e
5 run L3 on 4: /bin/sh -c make
= 5`
	if got := show(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var texts []string
	for _, ins := range r.File.Stages[1].Instructions {
		if ins.OnBuild && ins.Range != r.File.Stages[1].From.Range {
			t.Errorf("%s: at %v, want the FROM's place", ins.Text, ins.Range)
		}
		texts = append(texts, fmt.Sprintf("%s %v", ins.Text, ins.OnBuild))
	}
	if got := strings.Join(texts, "; "); got != "ARG TARGETARCH true; COPY bin/$TARGETARCH /app true; COPY --from=extra /e /e true; RUN make true; ENV X=1 false" {
		t.Errorf("instructions %s", got)
	}
	if !r.File.Stages[0].Reachable {
		t.Error("a stage that a trigger copies from is not reachable")
	}
	if c := configOf(t, r); c.Config.OnBuild != nil {
		t.Errorf("triggers stay in the config: %v", c.Config.OnBuild)
	}
	if op, ok := r.NeedsEngine(); !ok || op.Ranges[0].Start.Line != 3 {
		t.Errorf("a RUN trigger needs an engine at the FROM; got %+v", op)
	}
}

func TestStagesSayWhatTheirFromMeans(t *testing.T) {
	in := input(t, `ARG V=3 P=$BUILDPLATFORM ARCH=s390x Q=linux/arm/v6
FROM alpine:$V AS a
FROM --platform=$P alpine:${V} AS b
FROM --platform=linux/${ARCH} golang-${TARGETARCH} AS c
FROM --platform=$Q scratch AS d
FROM --platform=${TARGETPLATFORM:-$BUILDPLATFORM} b AS e
FROM b
`)
	in.Platform, in.Args = arm64, map[string]string{"Q": "linux/amd64"}
	in.Target = "E"
	r := evaluate(t, in)
	var got []string
	for _, st := range r.File.Stages {
		got = append(got, fmt.Sprintf("%s %d %s %v", st.Expanded, st.Parent, st.For, st.HostBound))
	}
	want := []string{
		"alpine:3 -1 linux/arm64 false", "alpine:3 -1 linux/amd64 true", "golang-arm64 -1 linux/s390x false",
		"scratch -1 linux/amd64 false", "b 1 linux/arm64 false", "b 1 linux/arm64 false",
	}
	if !reflect.DeepEqual(got, want) || r.Stage != 4 {
		t.Errorf("target %d, got\n%s\nwant\n%s", r.Stage, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	in.Args["P"] = "linux/arm64" // not the machine's any more
	if st := evaluate(t, in).File.Stages[1]; st.HostBound || st.For != arm64 {
		t.Errorf("%+v", st)
	}
}
