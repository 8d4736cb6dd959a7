package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// everything makes a console say everything that it can.
func everything(c *Console) {
	now := time.Unix(1_700_000_000, 0)
	c.now = func() time.Time { return now }
	leg, binary := Subject{Image: "app", Platform: "linux/arm/v7"}, Subject{Command: "agent", Platform: "linux/amd64"}
	c.Expect("legs", []Subject{leg})
	r := c.Begin(Task{Verb: "image", Subject: leg, Phase: "build", Engine: "buildx"})
	fmt.Fprint(r.Log(1), "#1 RUN \x1b[1mmake\n")
	r.Phase("build")
	r.Phase("push")
	now = now.Add(time.Second)
	r.Moved(1, 10)
	r.Moved(5, 10)
	now = now.Add(time.Second)
	r.Moved(10, 10)
	r.End()
	c.Done(pushed(leg))
	c.Done(Outcome{Verb: "compile", Subject: binary, State: "built", Path: "bin/agent-linux-amd64"})
	c.Done(Outcome{Verb: "image", Subject: leg, Engine: "native", Err: errors.Join(&hinted{text: "a", hint: "b"}, errors.New("c"))})
	c.Settle()
	c.Event("clean", "dist", "")
	c.Note("%d left", 2)
	c.Warn("careful")
	c.Lines("one\ntwo\n")
	c.Commands("::error::x\n")
	c.Error(errors.Join(&hinted{text: "a: b", hint: "do c"}, errors.New("d")))
	c.Result("x@sha256:1")
}

func TestEventsAreLinesOfJSON(t *testing.T) {
	var out, errOut bytes.Buffer
	c := New(&out, &errOut)
	if err := c.Configure(Options{Progress: "json"}); err != nil {
		t.Fatal(err)
	}
	everything(c)
	if out.String() != "x@sha256:1\n" {
		t.Errorf("stdout: %q", out.String())
	}
	golden(t, "testdata/events.jsonl", errOut.Bytes())
	for line := range strings.Lines(errOut.String()) {
		valid(t, line)
	}
}

// golden compares with a file; UPDATE=1 writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s\nnot\n%s", err, got, want)
	}
}

const schemaFile = "../../docs/progress.schema.json"

// valid holds an event against the schema that users have.
func valid(t *testing.T, line string) {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

// The document's events are such events.
func TestTheDocumentShowsEvents(t *testing.T) {
	data, err := os.ReadFile("../../docs/progress.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	if strings.Count(text, "\n") < 4 {
		t.Errorf("only %q", text)
	}
	for line := range strings.Lines(text) {
		valid(t, line)
	}
	for _, state := range []string{stateStarted, stateProgress, stateOutput, stateDone, stateFailed, stateNote, stateWarning, stateError} {
		if !strings.Contains(string(data), "`"+state+"`") {
			t.Errorf("it does not say what %s is", state)
		}
	}
}

// What the schema says there is, there is, and the other way round.
func TestTheSchemaHasTheFieldsOfAnEvent(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct {
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	full, err := json.Marshal(event{
		Version: 1, Verb: "x", Subject: &Subject{"i", "c", "p", "n"}, Phase: "x", State: "x", Engine: "x", Bytes: 1, Total: 1,
		Size: 1, Digest: "x", Path: "x", Seconds: 1, Message: "x", Error: "x", Hint: "x",
	})
	var has map[string]any
	if err := errors.Join(err, json.Unmarshal(full, &has)); err != nil {
		t.Fatal(err)
	}
	for name := range has {
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("the schema lacks %s", name)
		}
	}
	for name := range schema.Properties {
		if _, ok := has[name]; !ok {
			t.Errorf("no event has %s", name)
		}
	}
	if n := len(schema.Properties["subject"].Properties); n != 4 {
		t.Errorf("the schema's subject has %d fields", n)
	}
}

func TestPlainLinesHoldNoControlCharacters(t *testing.T) {
	var out, errOut bytes.Buffer
	everything(New(&out, &errOut))
	if strings.ContainsAny(errOut.String(), "\x1b\r\x07") {
		t.Errorf("%q", errOut.String())
	}
	golden(t, "testdata/plain.txt", errOut.Bytes())
}

// Quiet leaves results, warnings and errors, however events are shown.
func TestQuiet(t *testing.T) {
	const want = "warning: careful\none\ntwo\n::error::x\narchmage: a: b\n  hint: do c\narchmage: d\n"
	var out, errOut bytes.Buffer
	c := New(&out, &errOut)
	if err := c.Configure(Options{Quiet: true}); err != nil {
		t.Fatal(err)
	}
	everything(c)
	if errOut.String() != want || out.String() != "x@sha256:1\n" {
		t.Errorf("%q, %q", errOut.String(), out.String())
	}
	s := newScreen(t, 80, 24)
	s.c.quiet = true
	everything(s.c)
	s.shows(want + "x@sha256:1\n")

	errOut.Reset()
	if err := c.Configure(Options{Quiet: true, Progress: "json"}); err != nil {
		t.Fatal(err)
	}
	everything(c)
	if states := statesOf(t, errOut.String()); states != "warning output error error" {
		t.Errorf("%s", states)
	}
}

func statesOf(t *testing.T, lines string) string {
	var states []string
	for line := range strings.Lines(lines) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		states = append(states, e.State)
	}
	return strings.Join(states, " ")
}
