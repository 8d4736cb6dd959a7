package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// remark is what is wrong with an instruction on one platform.
type remark struct {
	r    *dockerfile.Recipe
	ins  *dockerfile.Instruction
	what string
	fix  string
}

// findings makes one finding of the remarks on one instruction, in the order of
// the recipes.
func (s *state) findings(list []remark) []Finding {
	var out []Finding
	for i, first := range list {
		if list[i].ins == nil {
			continue
		}
		f := s.at(first.r, first.ins)
		f.Fix = first.fix
		var texts []string
		for k := i; k < len(list); k++ {
			what := list[k].what
			if list[k].ins == nil || !sameText(list[k].ins, first.ins) {
				continue
			}
			var who []platform.Platform
			for n := k; n < len(list); n++ {
				if m := &list[n]; m.ins != nil && sameText(m.ins, first.ins) && m.what == what {
					who = append(who, m.r.Platform)
					if m.fix != f.Fix {
						f.Fix = "" // it would be wrong on the other
					}
					m.ins = nil
				}
			}
			texts = append(texts, names(who)+": "+what)
			f.Platforms = append(f.Platforms, who...)
		}
		f.Message = breaks.Replace(strings.Join(texts, "; "))
		out = append(out, f)
	}
	return out
}

// breaks is for words of a Dockerfile, which may hold anything.
var breaks = strings.NewReplacer("\n", " ", "\r", " ")

// perImage makes a check of a judgement on single images.
func perImage(judge func(*result) []remark) func(*state) []Finding {
	return func(s *state) []Finding {
		var list []remark
		for _, b := range s.results() {
			for _, m := range judge(b) {
				m.r = b.r
				list = append(list, m)
			}
		}
		return s.findings(list)
	}
}

// execForm is an instruction with a list of words.
func execForm(keyword string, words []string) string {
	texts := make([]string, len(words))
	for i, w := range words {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(w) // a string can always be written
		texts[i] = strings.TrimSpace(b.String())
	}
	return keyword + " [" + strings.Join(texts, ", ") + "]"
}

// formOf is an instruction in exec form, "" where the words are not known.
func formOf(ins *dockerfile.Instruction, words []string) string {
	if words == nil {
		return ""
	}
	return execForm(ins.Keyword, words)
}

var keyword = regexp.MustCompile(`^[A-Za-z]+`)

// withFlag is a COPY or ADD with another value of a flag, as its author wrote it
// otherwise, on one line. Of one with heredocs it is the flag.
func withFlag(ins *dockerfile.Instruction, name, value string) string {
	flag := "--" + name + "=" + value
	text, ok := single(ins)
	have := regexp.MustCompile(`--` + name + `=\S+`)
	switch old := have.FindString(ins.Text); {
	case !ok && old == "":
		return ins.Keyword + " " + flag + " instead of " + ins.Keyword
	case !ok:
		return flag + " instead of " + old
	case old != "":
		return have.ReplaceAllLiteralString(text, flag)
	}
	return keyword.ReplaceAllString(text, "$0 "+flag)
}

// single is an instruction on one line, which one with heredocs cannot be.
func single(ins *dockerfile.Instruction) (string, bool) {
	switch {
	case !strings.Contains(ins.Text, "\n"):
		return ins.Text, true
	case strings.Contains(ins.Text, "<<"):
		return "", false
	}
	return oneLine(ins, func(word string) string { return word }), true
}

// octal is a mode as chmod has it.
func octal(m fs.FileMode) string {
	bits := uint32(m.Perm())
	for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&mode != 0 {
			bits |= bit
		}
	}
	return fmt.Sprintf("%04o", bits)
}

// cannot is the beginning of a sentence about what the user must not do.
func (u user) cannot() string {
	switch {
	case !u.known:
		return "no user can"
	case u.root():
		return "root cannot"
	}
	return "user " + u.text + " cannot"
}
