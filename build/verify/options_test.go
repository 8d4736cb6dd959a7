package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Advice is for who asks: for all of it, or for one rule by its severity.
func TestAdviceIsAskedFor(t *testing.T) {
	for _, row := range table() {
		cases, _ := filepath.Glob("testdata/" + row.Name + "/*.txtar")
		for _, name := range cases {
			if !row.Pedantic || strings.HasPrefix(filepath.Base(name), "ok") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(data)
			s, err := newRepo(t, a.Comment, a.Files).subject(t, "app")
			if err != nil {
				t.Fatal(err)
			}
			has := func(o Options) bool { return slices.Contains(rules(Check([]Subject{s}, o)), row.Name) }
			if has(Options{}) || !has(Options{Pedantic: true}) || !has(Options{Severity: map[string]Severity{row.Name: Error}}) ||
				has(Options{Pedantic: true, Severity: map[string]Severity{row.Name: Off}}) {
				t.Errorf("%s: not as asked for", name)
			}
		}
	}
}

func TestJobsChangeNothing(t *testing.T) {
	var subjects []Subject
	for i := range 40 {
		text := fmt.Sprintf("FROM scratch as a%d\nCOPY bin/app /app\nMAINTAINER x\nCOPY bin/tool-linux-s390x /t%d\n", i%3, i)
		s, err := newRepo(t, []byte("commands: app tool"), []txtar.File{file("Dockerfile", text)}).subject(t, fmt.Sprint("image", i))
		if err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, s)
	}
	want := Check(subjects, Options{Jobs: 1})
	if len(want) < 40 {
		t.Fatalf("%d findings", len(want))
	}
	for range 3 {
		if got := Check(subjects, Options{Jobs: 8}); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v", got)
		}
	}
}
