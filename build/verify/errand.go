package verify

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// errand is a step that only does what an image can be told without a RUN.
type errand struct {
	*step
	dir          string // that it starts in
	dirs         []string
	chmod, chown []change
	user, group  bool
	uid, gid     string
	certificates bool
	all          bool // no RUN that the image needs does more
}

// change is a new mode or owner of a file.
type change struct{ to, file string }

// errand reads a step. Whatever is unknown about it, or is more than an errand,
// makes it none.
func (s *state) errand(st *step) (errand, bool) {
	if st.script == nil || st.script.Lost || !st.script.Plain || len(st.r.Ops[st.op].Run.Mounts) > 0 || len(st.calls) == 0 {
		return errand{}, false
	}
	e := errand{step: st, dir: st.calls[0].Dir.Text}
	refresh := false
	for i := range st.calls {
		c := &st.calls[i]
		if c.Writes || slices.ContainsFunc(c.Args, func(a shell.Value) bool { return a.Open }) {
			return e, false
		}
		if c.Name() == "update-ca-certificates" {
			refresh = true
			continue
		}
		if !e.add(c) {
			return e, false
		}
	}
	if refresh && !e.certificates {
		return e, false // for certificates that the image brings
	}
	for _, c := range e.chmod {
		if len(s.broughtBy(e, c.file)) == 0 && !(slices.Contains(e.dirs, c.file) && numericMode(c.to) == "0755") {
			return e, false // the base's own, or a directory with a mode that WORKDIR does not give
		}
	}
	for _, c := range e.chown {
		ours := e.makes(c.file) || e.made(c.file)
		if ours && strings.HasPrefix(c.to, ":") || !ours && len(s.broughtBy(e, c.file)) == 0 {
			return e, false
		}
	}
	return e, len(e.does()) > 0
}

// makes reports whether a step makes a directory, itself or on the way to
// another one in it that no system has.
func (e *errand) makes(dir string) bool {
	return slices.ContainsFunc(e.dirs, func(d string) bool {
		_, inside := below(dir, d)
		return d == dir || inside && strings.Count(dir, "/") > 1 && !slices.Contains([]string{"usr", "var", "etc", "lib", "run"}, strings.Split(dir, "/")[1])
	})
}

// made reports whether a WORKDIR has made a directory.
func (e *errand) made(dir string) bool {
	for at := under(e.r, e.op); at != dockerfile.Scratch; at = under(e.r, at) {
		if f := e.r.Ops[at].File; f != nil && f.Actions[0].Mkdir != nil && f.Actions[0].Mkdir.Path == dir {
			return true
		}
	}
	return false
}

func (e *errand) add(c *shell.Call) bool {
	flags, operands := sorted(c)
	switch c.Name() {
	case "mkdir":
		return len(operands) > 0 && only(flags, "-p", "-v", "-pv", "-vp", "--parents") && e.files(c, operands, func(file string) { e.dirs = append(e.dirs, file) })
	case "chmod":
		return len(operands) > 1 && only(flags, "-R", "-v", "--recursive") && e.files(c, operands[1:], func(file string) { e.chmod = append(e.chmod, change{operands[0], file}) })
	case "chown":
		return len(operands) > 1 && only(flags, "-R", "-v", "-h", "--recursive") && e.files(c, operands[1:], func(file string) { e.chown = append(e.chown, change{operands[0], file}) })
	case "chgrp":
		return len(operands) > 1 && only(flags, "-R", "-v", "--recursive") && e.files(c, operands[1:], func(file string) { e.chown = append(e.chown, change{":" + operands[0], file}) })
	case "adduser", "useradd":
		e.user = true
		e.numbers(c, &e.uid, "-u", "--uid")
		e.numbers(c, &e.gid, "-g", "--gid")
		return true
	case "addgroup", "groupadd":
		e.group = true
		e.numbers(c, &e.gid, "-g", "--gid")
		return true
	case "apk", "apt", "apt-get", "dnf", "microdnf", "yum", "tdnf":
		return e.installs(operands)
	case "rm":
		return len(operands) > 0 && !slices.ContainsFunc(operands, func(file string) bool { return !leftover(file) })
	}
	return false
}

// sorted are the arguments of a command: flags, and the rest. A leading minus
// of a mode takes rights away.
func sorted(c *shell.Call) (flags, operands []string) {
	for _, a := range c.Args[1:] {
		if strings.HasPrefix(a.Text, "-") && a.Text != "-x" && a.Text != "-w" && a.Text != "-r" {
			flags = append(flags, a.Text)
		} else {
			operands = append(operands, a.Text)
		}
	}
	return flags, operands
}

func only(flags []string, allowed ...string) bool {
	return !slices.ContainsFunc(flags, func(f string) bool { return !slices.Contains(allowed, f) })
}

func (e *errand) files(c *shell.Call, operands []string, add func(string)) bool {
	for _, o := range operands {
		at := c.Dir.Path(o)
		if at.Open || strings.ContainsAny(at.Text, "{}~") || at.Text == "/" {
			return false
		}
		add(at.Text)
	}
	return true
}

// numbers keeps the number that a flag has.
func (e *errand) numbers(c *shell.Call, to *string, names ...string) {
	for i, a := range c.Args {
		for _, n := range names {
			rest, joined := strings.CutPrefix(a.Text, n+"=")
			if a.Text == n && i+1 < len(c.Args) {
				rest, joined = c.Args[i+1].Text, true
			}
			if joined && rest != "" && strings.Trim(rest, "0123456789") == "" {
				*to = rest
			}
		}
	}
}

// installs reads what a package manager does: nothing but CA certificates, and
// what goes with that.
func (e *errand) installs(operands []string) bool {
	if len(operands) == 0 {
		return false
	}
	switch operands[0] {
	case "update", "clean", "autoclean", "makecache":
		return true
	case "add", "install":
		rest := slices.DeleteFunc(slices.Clone(operands[1:]), func(p string) bool { return p == "ca-certificates" || p == "ca-certificates-bundle" })
		e.certificates = len(operands) > 1 && len(rest) == 0
		return e.certificates
	}
	return false
}

// leftover is what installing leaves behind.
func leftover(file string) bool {
	for _, dir := range []string{"/var/lib/apt/", "/var/cache/", "/var/log/", "/tmp/", "/var/tmp/"} {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return false
}
