package verify

// globbed is GlobbedBinary: the wildcard takes the platform's own binary today,
// and with it whatever else will be there, or nothing, without an error.
func globbed(s *state, t *take) bool {
	if !wildcard(t.path) || t.whole() || !s.inImage(t) {
		return false
	}
	from, starts := s.takesStart(t)
	return len(s.own(t)) > 0 || starts && wildcard(from.file)
}

func tellGlobbed(s *state, list []*take) (message, fix string) {
	message = whoCopies(list, func(t *take) string {
		if own := s.own(t); len(own) > 0 {
			return t.path + " (" + few(own) + " now)"
		}
		return t.path
	})
	return message + ": a wildcard takes what else is there, and nothing without an error", s.rewrite(list, s.unglobbed)
}

// unglobbed are the same files by their names, which they keep.
func (s *state) unglobbed(t *take) []target {
	var list []target
	for _, c := range s.commandsIn(t) {
		list = append(list, target{source: s.bin.variable(c)})
	}
	return list
}

// own are the platform's binaries that a source takes.
func (s *state) own(t *take) []string {
	var list []string
	for _, c := range s.bin.commands {
		for _, file := range s.bin.paths(c, t.r.Platform) {
			if takes(t.path, file) {
				list = append(list, file)
				break
			}
		}
	}
	return list
}
