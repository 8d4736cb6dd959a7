package verify

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// download is something for one architecture that is fetched on another.
type download struct {
	r     *dockerfile.Recipe
	ins   *dockerfile.Instruction
	words []archWord // of the address
	url   string
	asks  bool // a shell reads the instruction on the platform itself
	vars  []string
}

// hardcodedDownload is HardcodedDownload. What the build platform fetches for
// itself may well name an architecture.
func hardcodedDownload(s *state) []Finding {
	var found []download
	for _, r := range s.judged() {
		found = append(found, s.added(r)...)
		for _, st := range s.steps() {
			if st.r == r {
				found = append(found, s.fetched(st)...)
			}
		}
	}
	var list []Finding
	for _, group := range grouped(found, func(d download) *dockerfile.Instruction { return d.ins }) {
		list = append(list, s.tellDownload(group))
	}
	return list
}

// added are the remote files of ADD.
func (s *state) added(r *dockerfile.Recipe) []download {
	var list []download
	for i, op := range r.Ops {
		if op.HTTP == nil {
			continue
		}
		words := foreignURL(op.HTTP.URL, r)
		if words == nil {
			continue
		}
		for k := i + 1; k < len(r.Ops); k++ {
			f := r.Ops[k].File
			if f == nil || len(r.Ops[k].Ranges) == 0 || !slices.ContainsFunc(f.Actions, func(a dockerfile.Action) bool { return a.Copy != nil && a.Copy.From == i }) {
				continue
			}
			ins := instruction(r.File, r.Ops[k].Ranges[0], 0)
			if base := baseOf(r, k); ins == nil || ins.OnBuild || base != nil && base.Platform.Arch != r.Platform.Arch && !r.ReachesResult(k) {
				continue
			}
			if !slices.ContainsFunc(ins.Sources, func(source string) bool { return s.callersWord(r, ins, variables(source)) }) {
				list = append(list, download{r: r, ins: ins, words: words, url: op.HTTP.URL})
			}
		}
	}
	return list
}

// fetchers are the programs whose arguments are addresses to read.
var fetchers = []string{"curl", "wget", "aria2c", "git", "rpm", "yum", "dnf", "microdnf", "tdnf", "apk", "pip", "pip3"}

func (s *state) fetched(st *step) []download {
	var list []download
	pinned := s.pinned(st)
	for i := range st.calls {
		c := &st.calls[i]
		if c.Cond || !slices.Contains(fetchers, c.Name()) {
			continue
		}
		for _, a := range c.Args[1:] {
			words := foreignURL(a.Text, st.r)
			if words == nil {
				if len(a.Vars) == 0 && !a.Open && len(urlWords(a.Text)) > 0 {
					return nil // this one is for here: the step fetches for several
				}
				continue
			}
			if s.callersWord(st.r, st.ins, a.Vars) || pinned && !s.keeps(st, c, a) {
				continue
			}
			list = append(list, download{r: st.r, ins: st.ins, words: words, url: a.Text, asks: !pinned, vars: a.Vars})
		}
	}
	return list
}

// callersWord reports whether an architecture is the value of an ARG, which
// whoever builds may give another.
func (s *state) callersWord(r *dockerfile.Recipe, ins *dockerfile.Instruction, vars []string) bool {
	return slices.ContainsFunc(vars, func(name string) bool {
		def, text := definition(r.File, ins, name)
		if def == nil || def.Keyword != "ARG" || isAutomatic(name) {
			return false
		}
		words := named(strings.Trim(text, `"'`))
		return len(words) == 1 && words[0].start == 0 && words[0].end == len(strings.Trim(text, `"'`))
	})
}

// keeps reports whether what a step fetches is in the image: the file that it
// is known to be saved as, unpacked by nobody.
func (s *state) keeps(st *step, c *shell.Call, address shell.Value) bool {
	name := path.Base(address.Text)
	if u, err := url.Parse(address.Text); err == nil {
		name = path.Base(u.Path)
	}
	out := name
	for i, a := range c.Args {
		flag := map[string][]string{"curl": {"-o", "--output"}, "wget": {"-O", "--output-document"}}[c.Name()]
		for _, f := range flag {
			long := strings.HasPrefix(f, "--")
			rest, ok := strings.CutPrefix(a.Text, f)
			switch {
			case a.Text == f && i+1 < len(c.Args):
				out = c.Args[i+1].Text
			case ok && long && strings.HasPrefix(rest, "="):
				out = rest[1:]
			case ok && !long && rest != "" || !long && clustered(a.Text, f) && i+1 < len(c.Args):
				if out = rest; !ok {
					out = c.Args[i+1].Text
				}
			}
		}
	}
	at := c.Dir.Path(out)
	return !at.Open && out != "-" && reaches(st.r, st.op, s.moved(st, at.Text), always)
}

// clustered is a flag at the end of others in one word: curl -fsSLo.
func clustered(word, flag string) bool {
	return len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, flag[1:])
}

func (s *state) tellDownload(group []download) Finding {
	d := group[0]
	f := s.at(d.r, d.ins)
	var urls []string
	for _, g := range group {
		if !slices.Contains(f.Platforms, g.r.Platform) {
			f.Platforms = append(f.Platforms, g.r.Platform)
		}
		if !slices.Contains(urls, g.url) {
			urls = append(urls, g.url)
		}
	}
	verb := "fetches"
	if len(f.Platforms) > 1 {
		verb = "fetch"
	}
	f.Message = fmt.Sprintf("%s %s %s, which is for %s", names(f.Platforms), verb, few(urls), d.words[len(d.words)-1].Arch)
	f.Fix = s.askPlatform(d)
	return f
}

// askPlatform is the instruction with a variable in its address, where the word
// is one that TARGETARCH has.
func (s *state) askPlatform(d download) string {
	for _, name := range d.vars {
		if isAutomatic(name) && !forBuild(name) {
			return declare(d.r.File, used{name: name, in: d.ins}) // it has but the default that is given there
		}
	}
	w := d.words[len(d.words)-1]
	word := d.url[w.start:w.end]
	if word == w.Arch && strings.Contains(d.ins.Text, word) {
		var lines []string
		if (scope{d.r.File, d.ins}).definition("TARGETARCH") == nil {
			lines = append(lines, "ARG TARGETARCH")
		}
		text := eachCodeLine(d.ins.Text, func(line string) string { return inAddresses(line, word) })
		if text != d.ins.Text {
			return strings.Join(append(lines, text), "\n")
		}
	}
	if d.asks && (word == "x86_64" || word == "aarch64") {
		return "$(uname -m) instead of " + word
	}
	return "a file for ${TARGETARCH} instead of " + word + ", with ARG TARGETARCH in this stage"
}

var addresses = regexp.MustCompile(`(https?|ftp)://[^\s"']+`)

// inAddresses puts the variable for a word into the addresses of a line.
func inAddresses(line, word string) string {
	return addresses.ReplaceAllStringFunc(line, func(a string) string {
		_, rest, _ := strings.Cut(a, "://")
		slash := strings.Index(rest, "/")
		if slash < 0 {
			return a
		}
		host := len(a) - len(rest) + slash
		return a[:host] + strings.ReplaceAll(a[host:], word, "${TARGETARCH}")
	})
}
