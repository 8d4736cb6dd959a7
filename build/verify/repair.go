package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// Repair carries out the edits of findings without writing anything. It tries
// them on contents in memory and keeps those after which the findings are gone,
// and no instruction of any image that reads the same files has an error where
// it had none before.
type Repair struct {
	Images int // whose findings are fixed: 0 to Images-1
	Others int // further images, that must not become wrong

	// Check evaluates and judges one image, with contents that count instead of
	// those of the files. An error of one of Others leaves it out.
	Check func(image int, over map[string][]byte) (Judged, error)
	// Names lists every name by which images read the file, or says why it is
	// not to be changed.
	Names func(file string) ([]string, error)
	// Read is the content of a file as it is.
	Read func(file string) ([]byte, error)
}

// Judged is what there is to know of an image.
type Judged struct {
	Findings []Finding
	Recipe   *dockerfile.Recipe // for any of its platforms
}

func (j Judged) reads(changed map[string]bool) bool {
	return j.Recipe != nil && (changed[j.Recipe.Dockerfile] || changed[j.Recipe.Ignore.Path])
}

// nth numbers the instruction that a finding stands on, among those that edits
// neither add nor take away; 0 is none of them.
func (j Judged) nth(f Finding) int {
	n := 0
	if j.Recipe == nil || j.Recipe.File == nil || f.File != j.Recipe.Dockerfile {
		return 0
	}
	for _, st := range j.Recipe.File.Stages {
		for _, ins := range append([]dockerfile.Instruction{st.From}, st.Instructions...) {
			switch {
			case ins.Keyword == "ARG":
				continue
			case ins.Range.Start == f.Start && !ins.OnBuild:
				return n + 1
			}
			n++
		}
	}
	return 0
}

// Repaired is the outcome of a Repair.
type Repaired struct {
	Files map[string][]byte // new contents by name; of a file with several names, by each
	Fixed []Finding         // where they stood when they were fixed
	Left  []Unfixed
}

// Unfixed is a finding whose edits were not kept.
type Unfixed struct {
	Finding
	Why string
}

// Run does it. An error means that an image cannot be judged as it is.
func (r Repair) Run() (Repaired, error) {
	w := &bench{Repair: r, over: map[string][]byte{}, left: map[string]string{}}
	for i := range r.Images + r.Others {
		j, err := r.Check(i, nil)
		if err != nil && i < r.Images {
			return Repaired{}, err
		}
		w.images = append(w.images, j)
	}
	w.work()
	out := Repaired{Files: w.over, Fixed: merge(w.fixed)}
	for _, t := range w.open() {
		out.Left = append(out.Left, Unfixed{t.Finding, w.left[t.key()]})
	}
	return out, nil
}

// bench is a Repair at work.
type bench struct {
	Repair
	over   map[string][]byte
	images []Judged
	fixed  []Finding
	left   map[string]string // key of a task that failed → why
}

// task is a finding with edits.
type task struct {
	Finding
	image int
	nth   int // of its instruction
}

func (t task) key() string {
	return fmt.Sprint(t.image, "\x00", t.Rule, "\x00", t.File, "\x00", t.Start, "\x00", t.Message)
}

// work tries all that is open at once, and one by one after that has failed.
// Each success leaves fewer findings with edits, so it comes to an end.
func (w *bench) work() {
	alone := false
	for {
		todo := slices.DeleteFunc(w.open(), func(t task) bool { return w.left[t.key()] != "" })
		if len(todo) == 0 {
			return
		}
		if alone {
			todo = todo[:1]
		}
		why := w.try(todo)
		if why != "" && len(todo) == 1 {
			w.left[todo[0].key()] = why
		}
		alone = alone || why != ""
	}
}

// open lists the tasks of the images that are to be fixed.
func (w *bench) open() []task {
	var list []task
	for i := range w.Images {
		for _, f := range w.images[i].Findings {
			if f.Edits != nil {
				list = append(list, task{f, i, w.images[i].nth(f)})
			}
		}
	}
	return list
}

// chain is how often what comes to light behind a fix is fixed with it: a binary
// that has the right path now may be ignored, for example.
const chain = 4

// try applies tasks and what follows from them, and says why that cannot stay.
func (w *bench) try(todo []task) (why string) {
	next := &bench{Repair: w.Repair, over: maps.Clone(w.over), images: slices.Clone(w.images)}
	done := todo
	for range chain {
		left, err := next.apply(todo)
		if err != nil {
			return err.Error()
		}
		done = slices.DeleteFunc(slices.Clone(done), func(t task) bool { return slices.Contains(left, t.key()) })
		todo = slices.DeleteFunc(next.open(), func(t task) bool { return excess(w, next, done, t.image, t.Finding) <= 0 })
		if len(todo) == 0 {
			break
		}
		done = append(done, todo...)
	}
	for i := range next.images {
		for _, f := range next.images[i].Findings {
			if (f.Severity == Error || f.Edits != nil) && excess(w, next, done, i, f) > 0 && !w.behind(next, done, i, f) {
				return fmt.Sprintf("%s would have %s then: %s", f.Image, f.Rule, f.Message)
			}
		}
	}
	if len(done) == 0 || len(next.open()) >= len(w.open()) {
		return "something else would be wrong then"
	}
	for _, t := range done {
		w.fixed = append(w.fixed, t.Finding)
	}
	w.over, w.images = next.over, next.images
	return ""
}

// excess is how many findings like f an image has now beyond those that it had
// and that are not done. Places differ from before, so they are counted by rule.
func excess(before, now *bench, done []task, image int, f Finding) int {
	count := func(list []Finding) (n int) {
		for _, g := range list {
			if g.Rule == f.Rule && g.Severity == f.Severity {
				n++
			}
		}
		return n
	}
	n := count(now.images[image].Findings) - count(before.images[image].Findings)
	for _, t := range done {
		if t.image == image && t.Rule == f.Rule {
			n++
		}
	}
	return n
}

// behind reports whether a finding has been there, but was not reported since its
// instruction had another error, which is gone now.
func (w *bench) behind(now *bench, done []task, image int, f Finding) bool {
	nth := now.images[image].nth(f)
	if nth == 0 || slices.ContainsFunc(done, func(t task) bool { return t.image == image && t.nth == nth && t.Rule == f.Rule }) {
		return false
	}
	return slices.ContainsFunc(w.images[image].Findings, func(g Finding) bool {
		return g.Severity == Error && w.images[image].nth(g) == nth
	})
}

// apply changes the contents and judges the images that read them anew. It
// returns the tasks that other tasks were in the way of.
func (w *bench) apply(todo []task) (left []string, err error) {
	findings := make([]Finding, len(todo))
	for i, t := range todo {
		findings[i] = t.Finding
	}
	changes, err := Apply(findings, w.read)
	if err != nil {
		return nil, err
	}
	for _, f := range changes.Left {
		for _, t := range todo {
			if t.Rule == f.Rule && t.Image == f.Image && t.Start == f.Start && t.Message == f.Message {
				left = append(left, t.key())
			}
		}
	}
	changed := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(changes.Files)) {
		names, err := w.Names(file)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			w.over[name], changed[name] = changes.Files[file], true
		}
	}
	for i, j := range w.images {
		if !j.reads(changed) {
			continue
		}
		if w.images[i], err = w.Check(i, w.over); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (w *bench) read(file string) ([]byte, error) {
	if data, ok := w.over[file]; ok {
		return data, nil
	}
	return w.Read(file)
}
