package compile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
)

// said is what a go command that failed wrote.
type said struct {
	group batch
	text  string
	err   error
}

// explain finds out about every package of a group that failed. The go command
// goes on after a package that does not compile, but builds nothing as soon as
// one cannot be loaded (an import that no module provides), and then says
// nothing about the others: these are tried one by one.
func (b *builder) explain(ctx context.Context, all said, dir string) []said {
	if len(all.group.binaries) == 1 || strings.HasPrefix(all.text, "# ") || strings.Contains(all.text, "\n# ") {
		return []said{all}
	}
	var list []said
	for _, bin := range all.group.binaries {
		one := all.group
		one.binaries = []plan.Binary{bin}
		if text, err := b.goBuild(ctx, one, dir); err != nil {
			list = append(list, said{one, text, err})
		}
	}
	if len(list) == 0 {
		return []said{all}
	}
	return list
}

// failure is one text and everything that it is said about.
type failure struct {
	subject   string // commands, or the package in the text's heading
	text      string
	err       error
	commands  []string
	platforms []platform.Platform
}

// report joins what went wrong in all groups, in order.
func report(results []result) error {
	var failures []*failure
	var single []error
	for _, r := range results {
		for _, s := range r.said {
			for _, f := range s.failures() {
				failures = merge(failures, f)
			}
		}
		single = append(single, r.errs...)
	}
	var errs []error
	for _, f := range failures {
		errs = append(errs, f.error())
	}
	return errors.Join(append(errs, single...)...)
}

// failures cuts a text at the headings that the go command writes above the
// messages about a package, "# import/path", and puts them in order.
func (s said) failures() []*failure {
	var list []*failure
	heading, body := "", ""
	flush := func() {
		if heading != "" || strings.TrimSpace(body) != "" {
			list = append(list, s.failure(heading, strings.Trim(body, "\n")))
		}
	}
	for line := range strings.Lines(s.text) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			flush()
			heading, body = strings.TrimSpace(name), ""
			continue
		}
		if !strings.HasPrefix(line, "go: downloading ") {
			body += line
		}
	}
	if flush(); len(list) == 0 {
		list = append(list, s.failure("", ""))
	}
	slices.SortStableFunc(list, func(a, b *failure) int {
		return cmp.Or(cmp.Compare(s.place(a.subject), s.place(b.subject)), strings.Compare(a.subject, b.subject))
	})
	return list
}

// place is where a package is reported: the go command writes them as they fail,
// several at once. What is about no command of the group comes first.
func (s said) place(pkg string) int {
	return slices.IndexFunc(s.group.binaries, func(b plan.Binary) bool { return b.Package == pkg })
}

func (s said) failure(heading, text string) *failure {
	f := &failure{subject: heading, text: text, err: s.err, platforms: []platform.Platform{s.group.platform}}
	if heading == "" {
		for _, bin := range s.group.binaries {
			f.commands = append(f.commands, bin.Command)
		}
	}
	return f
}

// merge adds f to the failure with the same text, if there is one.
func merge(list []*failure, f *failure) []*failure {
	for _, old := range list {
		if old.subject == f.subject && old.text == f.text && (f.text != "" || old.err.Error() == f.err.Error()) {
			old.platforms = appendNew(old.platforms, f.platforms)
			old.commands = appendNew(old.commands, f.commands)
			return list
		}
	}
	return append(list, f)
}

func appendNew[T comparable](list, more []T) []T {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func (f *failure) error() error {
	subject := f.subject
	if subject == "" {
		subject = strings.Join(f.commands, ", ")
	}
	names := make([]string, len(f.platforms))
	for i, p := range f.platforms {
		names[i] = p.String()
	}
	return plan.Said("compile "+subject+" for "+strings.Join(names, ", "), f.text, f.err)
}
