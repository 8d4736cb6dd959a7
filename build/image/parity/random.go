package parity

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// dice is a source of decisions that a seed repeats. It writes cases as text, so
// that what fails can be kept as a file.
type dice struct{ *rand.Rand }

// in is true in n of 100 cases.
func (d dice) in(n int) bool { return d.IntN(100) < n }

// of is one of the words of list, which are separated by blanks.
func (d dice) of(list string) string { return pick(d, strings.Fields(list)) }

func pick[T any](d dice, list []T) T { return list[d.IntN(len(list))] }

// Random is the case of a seed: a context, perhaps bases and archives, and a
// Dockerfile whose instructions have random order, flags, sources and
// destinations. Names come from a small pool, so that things meet. The same seed
// is the same case, as long as this code does not change.
func Random(seed uint64) (Case, error) {
	g := &generator{dice: dice{rand.New(rand.NewPCG(seed, 0x6172636862))}}
	c, err := ParseCase(fmt.Sprintf("random_%d", seed), []byte(g.text()))
	c.Refuses = AnyOutcome
	return c, err
}

// generator collects what the instructions of a Dockerfile can refer to. Paths of
// directories end with a slash.
type generator struct {
	dice
	context  []string
	archives []string // paths in the context
	bases    []baseInfo
	stages   []stage
	out      strings.Builder // the files of the case
}

type baseInfo struct {
	name  string
	paths []string // absolute
}

// stage is what is known of a stage's tree and words.
type stage struct {
	name    string
	paths   []string // absolute, that something went to
	sources []string // absolute, of its base
	scratch bool
}

// commonBases are those of testdata that random Dockerfiles use.
var commonBases = []baseInfo{
	{"tiny", strings.Fields("/etc/ /etc/passwd /home/ /home/app/ /tmp/ /usr/lib/ /var/log/ /etc/os-release")},
	{"links", strings.Fields("/lib/ /bin/ /usr/lib/ /chain/ /tofile /up/ /var/run/ /etc/group /home/nonroot/")},
	{"setgid", strings.Fields("/g/ /g/sub/ /g/deep/ /sticky/ /suid/ /none/ /suidfile")},
	{"whiteouts", strings.Fields("/a/ /a/keep /b/ /file2dir/ /dir2file /dir2sym/ /sym2dir/ /late/made/x /c/")},
	{"special", strings.Fields("/s/ /s/cap /s/a /s/b /s/d/ /s/d/c /s/fifo /s/null /s/old")},
	{"zstd", strings.Fields("/z/ /z/zstd /z/plain")},
	{"docker", strings.Fields("/bin/ /bin/x /etc/")},
	{"accounts", strings.Fields("/etc/ /etc/passwd /usr/share/")},
	{"config", strings.Fields("/srv/ /srv/app/ /etc/")},
	{"onbuild", strings.Fields("/etc/ /onbuild/")},
}

// text is the whole case.
func (g *generator) text() string {
	var comment strings.Builder
	fmt.Fprintf(&comment, "platforms: %s\n", pick(g.dice, []string{
		"linux/amd64", "linux/arm64", "linux/amd64 linux/arm64", "linux/amd64 linux/arm/v7", "linux/arm64 linux/386",
	}))
	if g.in(20) {
		fmt.Fprintf(&comment, "arg: V=%s\n", g.of("a b/c x"))
	}
	if g.in(10) {
		fmt.Fprintf(&comment, "label: l=%s\n", g.of("1 2"))
	}
	g.writeContext()
	for n := range g.IntN(3) {
		g.writeArchive(n)
	}
	for n := range g.IntN(3) {
		g.writeBase(n)
	}
	dockerfile := g.dockerfile()
	if g.in(20) {
		fmt.Fprintf(&g.out, "-- .dockerignore --\n%s", g.ignoreFile())
	}
	if g.in(10) && len(g.stages) > 1 {
		fmt.Fprintf(&comment, "target: %s\n", pick(g.dice, g.stages).name)
	}
	// A file a.txt is always there, for triggers of bases.
	return comment.String() + "-- Dockerfile --\n" + dockerfile + g.out.String() + "-- a.txt --\na\n"
}

func (g *generator) dockerfile() string {
	var b strings.Builder
	if g.in(20) {
		b.WriteString("ARG V=global\n")
	}
	for n := range 1 + g.IntN(3) {
		s := stage{name: fmt.Sprintf("s%d", n)}
		fmt.Fprintf(&b, "FROM %s AS %s\n", g.from(&s), s.name)
		for range 1 + g.IntN(7) {
			b.WriteString(g.instruction(&s))
		}
		g.stages = append(g.stages, s)
	}
	return b.String()
}

// from picks what a stage starts on.
func (g *generator) from(s *stage) string {
	switch {
	case len(g.stages) > 0 && g.in(35):
		from := pick(g.dice, g.stages)
		s.paths, s.sources, s.scratch = append(s.paths, from.paths...), from.sources, from.scratch
		return from.name
	case g.in(15):
		s.scratch = true
		return "scratch"
	}
	from := g.anyBase()
	s.paths, s.sources = append(s.paths, from.paths...), from.paths
	return "BASE/" + from.name
}

func (g *generator) anyBase() baseInfo {
	if len(g.bases) > 0 && g.in(50) {
		return pick(g.dice, g.bases)
	}
	return pick(g.dice, commonBases)
}

func (g *generator) instruction(s *stage) string {
	switch n := g.IntN(100); {
	case n < 38:
		return g.copyContext(s)
	case n < 52:
		return g.copyFrom(s)
	case n < 62:
		return g.add(s)
	case n < 68:
		return g.heredoc(s)
	case n < 78:
		at := g.of("/ /w /w/x rel ../up /etc /lib /a /a/b $V /x/$E/w ./. /g/new /home/app")
		s.paths = append(s.paths, strings.TrimSuffix("/"+strings.TrimLeft(at, "./"), "/")+"/")
		return "WORKDIR " + at + "\n"
	case n < 83:
		if s.scratch {
			return "USER " + g.of("0 5 5:6 root $NONE") + "\n"
		}
		return "USER " + g.of("0 5 5:6 root app app:web nobody:7 stranger svc:strangers $NONE") + "\n"
	case n < 88:
		return "ENV " + pick(g.dice, []string{"E=e", "E=a F=$E", "V=env", "F=${V:-d}", "E=", "E='q $V'", "PATH=/p:$PATH"}) + "\n"
	case n < 93:
		return "ARG " + pick(g.dice, []string{"V", "V=arg", "TARGETARCH", "E=arg", "V TARGETOS W=1", "TARGETPLATFORM TARGETVARIANT"}) + "\n"
	}
	return g.configInstruction()
}

func (g *generator) configInstruction() string {
	return pick(g.dice, []string{
		"LABEL a=$V b=\"x y\" c=$TARGETARCH\n", "CMD [\"$V\", \"b\"]\n", "CMD run $V\n", "ENTRYPOINT [\"/e\"]\n",
		"ENTRYPOINT e $E\n", "EXPOSE 80 53/udp\n", "VOLUME /vol /v$V\n", "STOPSIGNAL SIGINT\n", "SHELL [\"/bin/ash\", \"-c\"]\n",
		"HEALTHCHECK --interval=5s CMD true\n", "HEALTHCHECK NONE\n", "ONBUILD COPY a.txt /ob/\n", "ONBUILD ENV OB=$V\n",
		"ONBUILD WORKDIR /ob/w\n", "MAINTAINER me\n",
	})
}

func (g *generator) ignoreFile() string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		p := strings.TrimSuffix(pick(g.dice, g.context), "/")
		switch g.IntN(7) {
		case 0:
			p = "*" + p[len(p)-1:]
		case 1:
			p = "**/" + p[strings.LastIndex(p, "/")+1:]
		case 2:
			p += "/**"
		case 3:
			p = "!" + p
		case 4:
			p = "/" + p
		}
		b.WriteString(p + "\n")
	}
	if g.in(20) {
		return "*\n!" + strings.Join(g.context, "\n!") + "\n" + b.String() + "!a.txt\n"
	}
	return b.String() + "!a.txt\n"
}
