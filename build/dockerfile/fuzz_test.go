package dockerfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

// FuzzEvaluate holds for any text and ignore file: no panic gets out, every
// place is in the file, what the recipe says fits together, and a second
// evaluation says the same.
func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{
		sample, "", "\ufeffFROM scratch\r\nCOPY a \\\r\n# c\r\n b /x\r\n", "# escape=`\nFROM scratch as A\nCOPY --from=0 a `\n b\nFROM a\n",
		"FROM a\nCOPY --link --parents a/./b* /x/\nRUN --mount=from=x,target=/y <<E\nx\nE\n", "FROM scratch\nADD <<A <<-'B' ssh://h/x.git /x\nA\n\tB\n",
		"ARG X=1 Y\nFROM ${X}$Y AS z\nONBUILD COPY --from=z a /b\nFROM z\nUSER a:b\nWORKDIR c\n", "FROM scratch\nFORM x", "# syntax=a/b\n", "\n\n FROM", "FROM scratch\nCOPY <<E /x",
		"FROM scratch AS a\nCOPY --from=b / /\nFROM a AS b\nHEALTHCHECK NONE\nEXPOSE 1-2/x\n", "# check=error=true\nFROM scratch\nCOPY --chown=$A --exclude=[ a /b\n",
	} {
		f.Add(text, "a\n!b\n# c\n")
	}
	f.Fuzz(func(t *testing.T, text, ignore string) {
		in := Input{Context: t.TempDir(), Dockerfile: "Dockerfile", Platform: arm64, BuildPlatform: platform.Platform{OS: "linux", Arch: "amd64"}}
		for name, data := range map[string]string{"Dockerfile": text, ".dockerignore": ignore} {
			if err := os.WriteFile(filepath.Join(in.Context, name), []byte(data), 0o600); err != nil {
				t.Skip(err)
			}
		}
		r, err := Evaluate(context.Background(), in)
		if err != nil {
			checkError(t, err, text, ignore)
			return
		}
		checkRecipe(t, r)
		if again, err := Evaluate(context.Background(), in); err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("another recipe the second time: %v", err)
		}
	})
}

func checkError(t *testing.T, err error, text, ignore string) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("an error of another type: %#v", err)
		}
		data := text
		if e.File != "Dockerfile" {
			data = ignore
		}
		if e.Range != (Range{}) {
			checkRange(t, &File{Data: []byte(data)}, e.Range)
		}
	}
}

func checkRange(t *testing.T, f *File, r Range) {
	text := newText(f.Data)
	for _, p := range []Position{r.Start, r.End} {
		if p.Line < 1 || p.Line > len(text.starts) || p.Column < 1 || p.Column > 1+len([]rune(string(text.line(p.Line)))) {
			t.Errorf("place %v is not in the file", p)
		}
	}
	if start, end := f.Offsets(r); start > end || end > len(f.Data) {
		t.Errorf("range %v is %d to %d", r, start, end)
	}
}

// checkWords finds every word of a COPY, ADD or ARG in the text again.
func checkWords(t *testing.T, f *File, ins *Instruction) {
	if ins.OnBuild {
		return
	}
	var words []Word
	ok := true
	switch {
	case len(ins.Args) > 0:
		words, ok = f.ArgWords(ins)
	case len(ins.Sources) > 0:
		var dest Word
		words, dest, ok = f.Operands(ins)
		words = append(words, dest)
	}
	if !ok {
		t.Errorf("words of %q are not found", ins.Text)
	}
	from, to := f.Offsets(ins.Range)
	for _, w := range words {
		if w.Start == w.End {
			continue
		}
		if w.Start < from || w.End > to || w.Start > w.End || !w.JSON && string(f.Data[w.Start:w.End]) != w.Text {
			t.Errorf("%+v is not in %q", w, ins.Text)
		}
	}
}

func checkRecipe(t *testing.T, r *Recipe) {
	places := map[Range]bool{} // of what the target needs
	for _, ins := range r.File.Global {
		checkInstruction(t, r.File, ins)
	}
	for i, st := range r.File.Stages {
		for _, ins := range append([]Instruction{st.From}, st.Instructions...) {
			checkInstruction(t, r.File, ins)
			checkWords(t, r.File, &ins)
			places[ins.Range] = places[ins.Range] || st.Reachable
			if ins.Stage != i {
				t.Errorf("%s is in stage %d, says %d", ins.Text, i, ins.Stage)
			}
		}
	}
	for _, w := range r.Warnings {
		for _, at := range w.Ranges {
			checkRange(t, r.File, at)
		}
	}
	for i, op := range r.Ops {
		for _, in := range op.Inputs {
			if in < 0 || in >= i {
				t.Errorf("operation %d needs %d", i, in)
			}
		}
		for _, at := range op.Ranges {
			checkRange(t, r.File, at)
			if !places[at] && r.Config != nil {
				t.Errorf("operation %q at %v is no instruction of a reachable stage", op.Name, at)
			}
		}
		if len(op.Ranges) == 0 && op.Kind != KindContext && op.Kind != KindFrontend {
			t.Errorf("operation %q has no place", op.Name)
		}
		r.ReachesResult(i)
	}
	if len(r.Ignore.Lines) != len(r.Ignore.Patterns) {
		t.Errorf("%d patterns on %d lines", len(r.Ignore.Patterns), len(r.Ignore.Lines))
	}
	r.NeedsEngine()
}

func checkInstruction(t *testing.T, f *File, ins Instruction) {
	checkRange(t, f, ins.Range)
	if start, end := f.Offsets(ins.Range); !ins.OnBuild && string(f.Data[start:end]) != ins.Text {
		t.Errorf("text %q, but the range spans %q", ins.Text, f.Data[start:end])
	}
}
