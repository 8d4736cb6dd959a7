package verify

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// result is the image that one recipe makes.
type result struct {
	st     *state
	r      *dockerfile.Recipe
	config config
	stages []int      // the target's stage and those of the file that it is built FROM, in that order
	known  *knownBase // nil is scratch or an image of which nothing is known
	tree   *world     // without a closer look at copied directories
}

// config is the part of an image config that counts here.
type config struct {
	User            string
	Env             []string
	Entrypoint, Cmd []string
	WorkingDir      string
	Volumes         map[string]struct{}
}

// results are the images, one for each recipe that says what it does. Without a
// directory to read there are none.
func (s *state) results() []*result {
	if s.trees != nil || s.read == nil {
		return s.trees
	}
	for _, r := range s.judged() {
		if r.Config == nil || len(r.File.Stages) == 0 {
			continue
		}
		b := &result{st: s, r: r, config: configOf(r)}
		b.stages = lineage(r.File, r.Stage)
		b.known = b.knownBase()
		b.tree = b.closer(nil)
		s.trees = append(s.trees, b)
	}
	return s.trees
}

// configOf is the config of a recipe, empty where there is none.
func configOf(r *dockerfile.Recipe) config {
	var image struct{ Config config }
	_ = json.Unmarshal(r.Config, &image) // what does not parse says nothing
	return image.Config
}

// lineage lists a stage and those of the file that it is built FROM.
func lineage(f *dockerfile.File, stage int) []int {
	list := []int{stage}
	for parent := f.Stages[stage].Parent; parent >= 0 && parent < stage; parent = f.Stages[stage].Parent {
		stage = parent
		list = append(list, stage)
	}
	return list
}

func (b *result) knownBase() *knownBase {
	if b.r.FinalBase == nil {
		return nil
	}
	if known := knownAs(b.r.FinalBase.Ref); known != nil {
		return known
	}
	return knownAs(b.from())
}

// from is the base of the first stage of the lineage: the name in the file, also
// where a mirror serves it.
func (b *result) from() string { return b.r.File.Stages[b.stages[len(b.stages)-1]].Expanded }

// scratch reports whether the image stands on nothing.
func (b *result) scratch() bool { return b.r.FinalBase == nil }

// asked reports whether what the config inherits is known: there is nothing to
// inherit, or a registry was asked.
func (b *result) asked() bool { return b.scratch() || b.r.FinalBase.Digest != "" }

// last is the last instruction of a kind in the lineage, nil where the file has
// none.
func (b *result) last(keyword string) *dockerfile.Instruction {
	for _, i := range b.stages {
		list := b.r.File.Stages[i].Instructions
		for k := range slices.Backward(list) {
			if list[k].Keyword == keyword {
				return &list[k]
			}
		}
	}
	return nil
}

// closer is the tree with a closer look at what copied directories have at
// these paths.
func (b *result) closer(look []string) *world {
	g := &grower{result: b, look: look, worlds: map[int]*world{}}
	return g.world(b.r.Result)
}

// find searches a path, and looks into the build context where that may help.
func (b *result) find(p string) found {
	w, look := b.tree, []string(nil)
	for {
		f := w.find(p)
		if f.is != unknowable || f.look == "" || slices.Contains(look, f.look) || len(look) == 8 {
			return f
		}
		look = append(look, f.look)
		w = b.closer(look)
	}
}

// mounted reports whether a path lies in a volume, of which whoever starts a
// container decides what it holds.
func (b *result) mounted(p string) bool {
	for v := range b.config.Volumes {
		if atOrBelow(p, path.Clean("/"+v)) {
			return true
		}
	}
	return false
}

// instruction is where an operation stands, in the lineage if it can be.
func (b *result) instruction(op dockerfile.Op) *dockerfile.Instruction {
	var other *dockerfile.Instruction
	for _, at := range op.Ranges {
		for i := range b.r.File.Stages {
			for k := range b.r.File.Stages[i].Instructions {
				ins := &b.r.File.Stages[i].Instructions[k]
				if ins.Range.Start.Line != at.Start.Line || !copies(ins) && ins.Keyword != "WORKDIR" {
					continue
				}
				if slices.Contains(b.stages, i) {
					return ins
				}
				other = ins
			}
		}
	}
	return other
}

// anchored reports whether it is known where an operation goes: not below the
// working directory of a base that nobody has asked.
func (b *result) anchored(op dockerfile.Op) bool {
	ins := b.instruction(op)
	if ins == nil || b.absolute(ins) {
		return true
	}
	return b.workdir(ins)
}

// workdir reports whether the working directory is known where an instruction of
// the file stands; nil is the end.
func (b *result) workdir(before *dockerfile.Instruction) bool {
	stages := b.stages
	if before != nil {
		stages = lineage(b.r.File, before.Stage)
	}
	for _, i := range stages {
		for k := range slices.Backward(b.r.File.Stages[i].Instructions) {
			ins := &b.r.File.Stages[i].Instructions[k]
			if before != nil && before.Stage == i && ins.Range.Start.Line >= before.Range.Start.Line {
				continue
			}
			if ins.Keyword == "WORKDIR" && b.absolute(ins) {
				return true
			}
		}
	}
	first := stages[len(stages)-1]
	if slices.Contains(b.stages, first) {
		return b.asked() || b.known != nil && b.known.user == "0"
	}
	return b.r.File.Stages[first].Expanded == "scratch"
}

var operand = regexp.MustCompile(`^(?s)[A-Za-z]+(?:[ \t]|[\\` + "`" + `]\r?\n)+(.*)$`)

// following is what follows the keyword.
func following(ins *dockerfile.Instruction) string {
	if m := operand.FindStringSubmatch(ins.Text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// absolute reports whether an instruction's path begins at the root, whatever
// the base.
func (b *result) absolute(ins *dockerfile.Instruction) bool {
	to := ins.Dest
	if ins.Keyword == "WORKDIR" {
		to = following(ins)
	}
	if to = strings.Trim(to, `"'`); !strings.HasPrefix(to, "$") {
		return strings.HasPrefix(to, "/")
	}
	if names := variables(to); len(names) > 0 {
		if def, text := definition(b.r.File, ins, names[0]); def != nil {
			_, value, ok := strings.Cut(text, names[0]+"=")
			if !ok {
				value = text
			}
			to = strings.Trim(value, `"' `)
		}
	}
	return strings.HasPrefix(to, "/")
}
