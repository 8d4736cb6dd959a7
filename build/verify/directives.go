package verify

import "github.com/archmage-go/archmage/build/dockerfile"

// settle applies what the Dockerfile and the options say of rules: it leaves out
// what is skipped or off, and sets the severity of the rest. BuildKit has done
// the skipping of its own rules.
func (o Options) settle(st *state, list []Finding) []Finding {
	var kept []Finding
	for _, f := range list {
		given := o.Severity[f.Rule]
		if given == Off || st.skips(f) {
			continue
		}
		switch {
		case given != "":
			f.Severity = given
		case st.strict():
			f.Severity = Error
		}
		kept = append(kept, f)
	}
	return kept
}

// file is the Dockerfile, which is the same for every platform; nil where there
// is none.
func (s *state) file() *dockerfile.File {
	for _, r := range s.judged() {
		return r.File
	}
	return nil
}

// strict is whether the file says `# check=error=true`.
func (s *state) strict() bool {
	f := s.file()
	return f != nil && f.Check.Error
}

// skips reports whether a directive silences a finding: at the top of the file,
// or above the instruction that the finding stands on.
func (s *state) skips(f Finding) bool {
	file := s.file()
	if file == nil {
		return false
	}
	if file.Check.Has(f.Rule) {
		return true
	}
	ins := standsOn(file, f.Start.Line)
	return f.File == file.Path && ins != nil && ins.Skip.Has(f.Rule)
}

// standsOn is the instruction that a line belongs to, or nil.
func standsOn(file *dockerfile.File, line int) *dockerfile.Instruction {
	holds := func(list []dockerfile.Instruction) *dockerfile.Instruction {
		for i := range list {
			if at := list[i].Range; !list[i].OnBuild && at.Start.Line <= line && line <= at.End.Line {
				return &list[i]
			}
		}
		return nil
	}
	if ins := holds(file.Global); ins != nil {
		return ins
	}
	for i := range file.Stages {
		st := &file.Stages[i]
		if at := st.From.Range; at.Start.Line <= line && line <= at.End.Line {
			return &st.From
		}
		if ins := holds(st.Instructions); ins != nil {
			return ins
		}
	}
	return nil
}
