package parity

import (
	"fmt"
	"path"
	"strings"
)

// flags are those that COPY and ADD share, in random order.
func (g *generator) flags(s *stage, add bool) string {
	var out []string
	link := g.in(15)
	if link {
		out = append(out, "--link")
	}
	if g.in(25) {
		out = append(out, "--chmod="+g.of("755 644 600 700 0 4755 2755 1777 7777 u+x go-r a=rX u=rwX,go=rX g+s +x"))
	}
	if g.in(25) {
		owner := g.of("1:2 5 :7 0:0 65532:65532 root root:root 1000:root")
		if !link && !s.scratch && g.in(50) {
			owner = g.of("app app:web svc: :web stranger 5:strangers bob:grp nonroot:nonroot ten")
		}
		out = append(out, "--chown="+owner)
	}
	for range 2 {
		if g.in(8) {
			out = append(out, "--exclude="+g.of("*.txt **/a a b/* sub **/*.md * !a x/** lib"))
		}
	}
	if !add && g.in(10) {
		out = append(out, "--parents")
	}
	g.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, " ") + " "
}

// destination is new, or something of the stage or near it. Seldom is it a file
// where a directory is wanted.
func (g *generator) destination(s *stage, dir bool) string {
	at := g.of("/ /f /x/ /x/y/z /a/b/ rel/f rel/ . ./ ../up/ /lib/n/ /etc/ /new/$E/ /v-$V /d/. /g/n/m /w/ /h")
	if len(s.paths) > 0 && g.in(40) {
		at = pick(g.dice, s.paths)
		switch isDir := strings.HasSuffix(at, "/"); {
		case isDir && !dir && g.in(40):
			at += g.of("f n1 n2 c.txt")
		case isDir && g.in(10):
			at = strings.TrimSuffix(at, "/")
		}
	}
	if dir && !strings.HasSuffix(at, "/") && !g.in(5) {
		at = g.of("/ /x/ /x/y/ /etc/ /lib/ /d/ rel/ ./ /n/e/w/")
	}
	made := path.Join("/", strings.NewReplacer("$E", "", "$V", "").Replace(at))
	if strings.HasSuffix(at, "/") && made != "/" {
		made += "/"
	}
	s.paths = append(s.paths, made)
	return at
}

// vary changes a source path: a wildcard, a detour, another spelling.
func (g *generator) vary(p string) string {
	if p, ok := strings.CutSuffix(p, "/"); ok {
		return g.varyDir(p)
	}
	dir, name := path.Split(p)
	first := string([]rune(name)[:1])
	switch g.IntN(20) {
	case 0:
		return dir + "*"
	case 1:
		return dir + first + "*"
	case 2:
		return dir + "?" + strings.TrimPrefix(name, first)
	case 3:
		return "./" + p
	case 4:
		return dir + "[a-z]*"
	case 5:
		return "*/" + name
	case 6:
		if g.in(20) {
			return p + "/nope"
		}
	}
	return p
}

func (g *generator) varyDir(p string) string {
	return p + pick(g.dice, []string{"/", "/", "/", "/", "/", "/.", "/*", "/*", "/../" + path.Base(p) + "/", "*"})
}

// line writes an instruction, in JSON form where a path holds blanks.
func line(word, flags string, sources []string, dest string) string {
	all := append(sources, dest)
	for _, s := range all {
		if strings.Contains(s, " ") {
			quoted := make([]string, len(all))
			for i, a := range all {
				quoted[i] = fmt.Sprintf("%q", a)
			}
			return fmt.Sprintf("%s %s[%s]\n", word, flags, strings.Join(quoted, ", "))
		}
	}
	return fmt.Sprintf("%s %s%s\n", word, flags, strings.Join(all, " "))
}

func (g *generator) copyContext(s *stage) string {
	var sources []string
	for range 1 + g.IntN(2)*g.IntN(3) {
		sources = append(sources, g.vary(pick(g.dice, g.context)))
	}
	flags := g.flags(s, false)
	if g.in(8) {
		sources = []string{"*"}
		if !strings.Contains(flags, "--parents") {
			sources[0] = g.of(". / ./ *")
		}
	}
	if strings.Contains(flags, "--parents") && g.in(30) {
		sources[0] = strings.Replace(sources[0], "/", "/./", 1)
	}
	return line("COPY", flags, sources, g.destination(s, len(sources) > 1 || isMany(sources[0])))
}

// copyFrom takes from an earlier stage or an image.
func (g *generator) copyFrom(s *stage) string {
	from := stage{}
	if len(g.stages) > 0 && g.in(70) {
		from = pick(g.dice, g.stages)
	} else {
		b := g.anyBase()
		from.name, from.sources = "BASE/"+b.name, b.paths
	}
	source := "/"
	if len(from.sources) > 0 && !g.in(15) {
		source = pick(g.dice, from.sources)
		if source != "/" {
			source = "/" + g.vary(source[1:])
		}
	}
	return line("COPY", "--from="+from.name+" "+g.flags(s, false), []string{source}, g.destination(s, isMany(source)))
}

// isMany: the source is a directory, or may be several files.
func isMany(source string) bool {
	return strings.ContainsAny(source, "*?[") || strings.HasSuffix(source, "/") || strings.HasSuffix(source, ".")
}

func (g *generator) add(s *stage) string {
	source := pick(g.dice, g.context)
	if len(g.archives) > 0 && !g.in(25) {
		source = pick(g.dice, g.archives)
	}
	flags := g.flags(s, true)
	if g.in(10) {
		flags += g.of("--unpack=false --unpack=true --unpack") + " "
	}
	return line("ADD", flags, []string{source}, g.destination(s, !g.in(10)))
}

func (g *generator) heredoc(s *stage) string {
	flags := g.flags(s, false)
	dest := g.destination(s, false)
	if g.in(30) {
		return fmt.Sprintf("COPY %s<<\"one\" <<two %s/\n$V\none\n$V ${E:-none}\ntwo\n", flags, strings.TrimSuffix(dest, "/"))
	}
	return fmt.Sprintf("COPY %s<<EOT %s\ntext $V\nEOT\n", flags, dest)
}
