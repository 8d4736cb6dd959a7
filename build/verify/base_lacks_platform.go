package verify

// baseLacksPlatform is BaseLacksPlatform: BuildKit finds nothing for what is
// asked, or takes an image of another architecture without a word.
func baseLacksPlatform(s *state) []Finding {
	var wrong []spot
	for _, w := range s.wanted() {
		_, found := w.taken()
		if !found || w.misfits() && !(w.pinned() && !w.has.Index) {
			wrong = append(wrong, spot{w.r, w.ins, w.lack()})
		}
	}
	var list []Finding
	for _, group := range bySpot(wrong) {
		list = append(list, s.found(group, "finds no image in", "find no image in"))
	}
	return list
}

// lack says what there is instead.
func (w wanted) lack() string {
	text := w.base.Ref
	if w.host || w.base.Platform != w.r.Platform {
		text += " for " + w.base.Platform.String()
	}
	if w.host {
		text += ", the machine that builds"
	}
	p, found := w.taken()
	switch {
	case !w.has.Index:
		return text + ", which is one image for " + p.String()
	case len(w.has.Platforms) == 0:
		return text + ", which has none"
	case found:
		return text + ", which has " + names(w.has.Platforms) + "; BuildKit takes " + p.String()
	}
	return text + ", which has " + names(w.has.Platforms)
}
