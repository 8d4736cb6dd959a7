package build

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/registry"
)

// Bytes are added up for every leg that waits for them, and for no other.
func TestSentBytesAreOfTheLegsThatWait(t *testing.T) {
	img, err := random.Image(10, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := console.New(&said, &said)
	if err := c.Configure(console.Options{Progress: "json"}); err != nil {
		t.Fatal(err)
	}
	s := &sent{legs: map[string][]*sending{}}
	begin := func(name string) *console.Running {
		return c.Begin(console.Task{Subject: console.Subject{Image: name}, Phase: "push"})
	}
	tell := func(repo string, layer int, n int64) {
		s.tell(registry.Transfer{Name: repo, Digest: m.Layers[layer].Digest.String(), Bytes: n, Total: 100})
	}
	doneA := s.watch("x/a", img, begin("a"))
	doneB := s.watch("x/b", img, begin("b"))
	tell("x/c", 0, 7)
	tell("x/a", 0, 50)
	tell("x/b", 1, 20) // the first of each is an event, the others are too soon after it
	doneA()
	again := begin("again")
	doneAgain := s.watch("x/a", img, again)
	tell("x/a", 2, 0)
	doneAgain()
	doneB()
	if len(s.legs) != 0 {
		t.Errorf("left: %v", s.legs)
	}
	tell("x/a", 0, 60)
	for _, want := range []string{`{"image":"a"},"phase":"push","state":"progress","bytes":50,"total":100}`, `{"image":"b"},"phase":"push","state":"progress","bytes":20,"total":100}`, `{"image":"again"},"phase":"push","state":"progress","total":100}`} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("%s is not in\n%s", want, said.String())
		}
	}
	if n := strings.Count(said.String(), "progress"); n != 3 {
		t.Errorf("%d events\n%s", n, said.String())
	}

	one := &sending{begin("sum"), map[string]registry.Transfer{}}
	s.legs["x/a@"+m.Layers[0].Digest.String()] = []*sending{one}
	tell("x/a", 0, 90)
	tell("x/a", 0, 10) // repeated
	if one.blobs[m.Layers[0].Digest.String()].Bytes != 10 {
		t.Errorf("%+v", one.blobs)
	}
}
