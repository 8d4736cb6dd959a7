package verify

import (
	"regexp"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// unexpandedExec finds variables in the place of a program. Nothing expands an
// exec form.
var unexpandedExec = perImage(func(b *result) []remark {
	s, ok := b.start()
	if !ok || !s.unexpanded() {
		return nil
	}
	m := remark{ins: s.ins, what: "nothing expands " + s.program() + " in an exec form, so no file of that very name is found"}
	if value, ok := b.expanded(s); ok {
		m.fix = execForm(s.ins.Keyword, append([]string{value}, s.words(b)[1:]...))
	}
	return []remark{m}
})

var use = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expanded is the program with the values that the image or the file has for its
// variables, where it has one for each.
func (b *result) expanded(s start) (string, bool) {
	ok := true
	text := use.ReplaceAllStringFunc(s.program(), func(word string) string {
		value, found := b.value(s.ins, strings.Trim(word, "${}"))
		ok = ok && found
		return value
	})
	return text, ok && text != "" && !strings.Contains(text, "$")
}

func (b *result) value(ins *dockerfile.Instruction, name string) (string, bool) {
	for _, env := range b.config.Env {
		if value, ok := strings.CutPrefix(env, name+"="); ok {
			return value, true
		}
	}
	if def, text := definition(b.r.File, ins, name); def != nil && def.Keyword == "ARG" {
		text = strings.Trim(text, `"'`)
		return text, !strings.Contains(text, "$")
	}
	return "", false
}
