package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// compilation is a go build or go install in a RUN.
type compilation struct {
	*step
	call *shell.Call
	verb string // build, install
	args []shell.Value

	// arch and os are GOARCH and GOOS as the toolchain hears them; nothing is
	// the architecture of the toolchain itself.
	arch, os shell.Value
	kept     *step // whose go env -w has set arch; nil where nothing did
}

// goTool is the command of any version of Go, and what wraps it.
var goTool = regexp.MustCompile(`^(go(1\.[0-9.]+)?|garble)$`)

// compiles lists what a step compiles with Go.
func (s *state) compiles(st *step) []compilation {
	if st.script == nil || s.wrapsGo(st) {
		return nil
	}
	var list []compilation
	var kept goEnv
	for i := range st.calls {
		c := &st.calls[i]
		verb, args := goCommand(c)
		if verb == "env" {
			kept = kept.write(st, args)
		}
		if verb != "build" && verb != "install" {
			continue
		}
		if len(list) == 0 {
			kept = slices.Concat(s.goEnv(st), kept)
		}
		one := compilation{step: st, call: c, verb: verb, args: args, arch: c.Hears["GOARCH"], os: c.Hears["GOOS"]}
		for _, k := range kept {
			switch {
			case k.name == "GOARCH" && c.Hears["GOARCH"].Empty():
				one.arch, one.kept = k.Value, k.step
			case k.name == "GOOS" && c.Hears["GOOS"].Empty():
				one.os = k.Value
			}
		}
		list = append(list, one)
	}
	return list
}

// goCommand is what the go command is asked to do, and with which arguments.
func goCommand(c *shell.Call) (verb string, args []shell.Value) {
	if !goTool.MatchString(c.Name()) {
		return "", nil
	}
	args = c.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		if args[0].Text == "-C" && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 || args[0].Open {
		return "", nil
	}
	return args[0].Text, args[1:]
}

// directory is where a go command works: -C changes it.
func (c compilation) directory() shell.Value {
	dir := c.call.Dir
	for i, a := range c.call.Args[1:] {
		text, ok := strings.CutPrefix(a.Text, "-C")
		if !ok {
			continue
		}
		if text = strings.TrimPrefix(text, "="); text == "" && i+2 < len(c.call.Args) {
			a = c.call.Args[i+2]
			text = a.Text
		}
		if a.Open {
			return shell.Unknown()
		}
		return dir.Path(text)
	}
	return dir
}

// goEnv is what go env -w has set, in order.
type goEnv []struct {
	name string
	shell.Value
	step *step
}

// goEnv is what earlier steps of the same tree have set.
func (s *state) goEnv(st *step) goEnv {
	var set goEnv
	for _, o := range s.steps() {
		if o.r != st.r || o.op >= st.op || !on(st.r, st.op, o.op) {
			continue
		}
		for i := range o.calls {
			if verb, args := goCommand(&o.calls[i]); verb == "env" {
				set = set.write(o, args)
			}
		}
	}
	return set
}

func (set goEnv) write(st *step, args []shell.Value) goEnv {
	if len(args) == 0 || args[0].Text != "-w" {
		return set
	}
	for _, a := range args[1:] {
		if key, text, ok := strings.Cut(a.Text, "="); ok {
			set = append(set, struct {
				name string
				shell.Value
				step *step
			}{key, shell.Value{Text: text, Open: a.Open, Vars: a.Vars, Pos: a.Pos}, st})
		}
	}
	return set
}

// wrapsGo reports whether the go command may be another one, which knows the
// platform by itself: tonistiigi/xx does so after xx-go --wrap, and its older
// images as soon as they are copied.
func (s *state) wrapsGo(st *step) bool {
	if strings.Contains(st.base, "/xx") || strings.Contains(st.base, "goxx") {
		return true
	}
	for _, o := range s.steps() {
		if o.r != st.r || !on(st.r, st.op, o.op) {
			continue
		}
		for i := range o.calls {
			c := &o.calls[i]
			if strings.HasPrefix(c.Name(), "xx-") && slices.ContainsFunc(c.Args, func(a shell.Value) bool { return a.Text == "--wrap" }) {
				return true
			}
		}
	}
	for at := st.op; at != dockerfile.Scratch; at = under(st.r, at) {
		if f := st.r.Ops[at].File; f != nil && slices.ContainsFunc(f.Actions, func(a dockerfile.Action) bool { return bringsGo(st.r, a) }) {
			return true
		}
	}
	return false
}

// bringsGo is a copy from an image or a stage of what may be a go command.
func bringsGo(r *dockerfile.Recipe, a dockerfile.Action) bool {
	if a.Copy == nil || a.Copy.From == dockerfile.Scratch || r.Ops[a.Copy.From].Kind == dockerfile.KindContext {
		return false
	}
	base := baseOf(r, a.Copy.From)
	dest := path.Clean(a.Copy.Dest)
	return dest == "/" || base != nil && strings.Contains(base.Ref, "/xx") ||
		slices.Contains([]string{"go", "bin"}, path.Base(dest)) && slices.Contains([]string{"/", "go", "bin"}, path.Base(a.Copy.Src))
}

// linux reports whether a program for Linux is made, as far as is known.
func (c compilation) linux() bool { return !c.os.Open && (c.os.Text == "" || c.os.Text == "linux") }

// built describes the command in messages.
func (c compilation) built() string { return "go " + c.verb }

// platformsOfCompiles are those of the compiles, in their order.
func platformsOfCompiles(list []compilation) []platform.Platform {
	var out []platform.Platform
	for _, c := range list {
		if !slices.Contains(out, c.r.Platform) {
			out = append(out, c.r.Platform)
		}
	}
	return out
}
