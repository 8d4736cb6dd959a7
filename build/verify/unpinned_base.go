package verify

import "strings"

// unpinnedBase is UnpinnedBase. A registry that was asked gives the digest to
// write.
func unpinnedBase(s *state) []Finding {
	var wrong []spot
	for _, r := range s.judged() {
		if st := root(r); st != nil && !strings.Contains(st.Expanded, "@") {
			wrong = append(wrong, spot{r, &st.From, st.Expanded})
		}
	}
	var list []Finding
	for _, group := range bySpot(wrong) {
		f := s.found(group, "is built on", "are built on")
		f.Message += ", whatever that names on the day"
		f.Fix = s.pin(group[0])
		list = append(list, f)
	}
	return list
}

// pin is the FROM with a digest, "" where an argument holds its base.
func (s *state) pin(at spot) string {
	st := at.r.File.Stages[at.ins.Stage]
	if strings.Contains(st.Base, "$") {
		return ""
	}
	if base := at.r.FinalBase; base != nil && s.Bases[base.Ref].Index {
		return oneLine(at.ins, func(w string) string {
			if w == st.Base {
				w += "@" + s.Bases[base.Ref].Digest
			}
			return w
		})
	}
	return st.Base + "@<digest of the index> instead of " + st.Base
}
