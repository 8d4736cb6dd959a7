package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzFixOfParts is FuzzFix for files that are put together from what people
// write, which random bytes seldom are.
func FuzzFixOfParts(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		text, ignore := r.dockerfile(), r.ignore()
		if checkFix(t, text, ignore); t.Failed() {
			t.Logf("%s\n-- ignore --\n%s", text, ignore)
		}
	})
}

func TestRandomFilesAreFixed(t *testing.T) {
	fixed := 0
	for seed := range uint64(60) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		if checkFix(t, r.dockerfile(), r.ignore()) {
			fixed++
		}
	}
	if fixed < 20 {
		t.Errorf("only %d files had something to fix", fixed)
	}
}

// random makes up Dockerfiles.
type random struct{ *rand.Rand }

func (r random) of(list ...string) string { return list[r.IntN(len(list))] }

func (r random) dockerfile() string {
	escape := r.of(`\`, `\`, "`")
	var b strings.Builder
	if escape == "`" {
		b.WriteString("# escape=`\n")
	}
	for range r.IntN(2) {
		b.WriteString(r.arg(escape))
	}
	for stage := range 1 + r.IntN(3) {
		from := r.of("scratch", "scratch", "alpine", "golang")
		if stage > 0 && r.IntN(3) == 0 {
			from = fmt.Sprintf("s%d", r.IntN(stage))
		}
		fmt.Fprintf(&b, "%s %s%s AS s%d\n", r.of("FROM", "FROM", "  FROM", "from"), r.of("", "", "--platform=$BUILDPLATFORM ", escape+"\n  "), from, stage)
		for range r.IntN(5) {
			b.WriteString(r.instruction(escape, stage))
		}
	}
	text := b.String()
	if r.IntN(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if r.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return r.of("", "", "", "\ufeff") + text
}

func (r random) arg(escape string) string {
	text := r.of("ARG", "ARG", "arg")
	for range 1 + r.IntN(3) {
		text += r.of(" ", "  ", " "+escape+"\n  # of the image\n  ") + r.of("TARGETARCH", "TARGETARCH", "TARGETOS", "TARGETVARIANT", "BUILDARCH", "DIR", "X") + r.of("", "", "=amd64", `="arm"`, "='linux'", "=bin", "=", "=$TARGETARCH", "=${DIR:-bin}")
	}
	return text + "\n"
}

func (r random) instruction(escape string, stage int) string {
	switch r.IntN(10) {
	case 0:
		return r.arg(escape)
	case 1:
		return r.of("ENV ARCH=$TARGETARCH\n", "ENV ARCH ${TARGETARCH}\n", "WORKDIR /app\n", "WORKDIR /usr/bin\n", "USER 1\n", "# COPY bin/app /app\n", "\n")
	case 2:
		return r.of("RUN mkdir /app\n", "RUN GOARCH=amd64 go build -o /app\n", "ENV GOARCH=arm64\nRUN go build -o /usr/bin/\n", "run export GOARCH='amd64' && go build\n", "RUN <<E\nCOPY bin/app /app\nE\n", "COPY <<E /x\nARG TARGETARCH=amd64\nE\n", "ENTRYPOINT [\"/app/app\"]\n", "ENTRYPOINT [\"/app\"]\n", "CMD /usr/bin/app\n")
	case 3:
		if stage > 0 {
			return fmt.Sprintf("COPY --from=s%d / /\n", r.IntN(stage))
		}
	}
	return r.copy(escape)
}

func (r random) copy(escape string) string {
	var words []string
	for range 1 + r.IntN(5)/4 {
		words = append(words, r.of("bin/app", "bin/app", "./bin/tool", "/bin/app", "bin/app-linux-amd64", "bin/tool-linux-arm", "bin/app-linux-armv6",
			"bin/app-linux-$TARGETARCH", "bin/app-linux-${TARGETARCH}", "bin/app-${TARGETOS}-${TARGETARCH}${TARGETVARIANT}", "bin/tool-linux-$BUILDARCH",
			"bin/app-linux-${TARGETARCH:-amd64}", "bin/app-linux-$ARCH", "$DIR/app", "bin/", "bin/*", "x/amd64", "x/$TARGETARCH", "LICENSE", ".", "bin/probe", "bin/typo-linux-$TARGETARCH", "bin/nothing"))
	}
	words = append(words, r.of("/app", "/app", "/app/", "/usr/bin/", "/usr/bin", ".", "./", "/", "$HOME/", "/opt"))
	flags := r.of("", "", "--link ", "--chmod=0755 ", "--parents ", "--chown=1:1 "+escape+"\n  ")
	keyword := r.of("COPY ", "COPY ", "ADD ", "copy ", "ONBUILD COPY ")
	switch r.IntN(8) {
	case 0:
		return keyword + flags + `["` + strings.Join(words, r.of(`", "`, `" ,"`)) + "\"]\n"
	case 1:
		return keyword + flags + strings.Join(words, " "+escape+"\n  # then\n") + "\n"
	case 2:
		return keyword + flags + `"` + strings.Join(words, `" "`) + "\"\n"
	case 3:
		return keyword + flags + "'" + strings.Join(words, "' '") + "'\n"
	case 4:
		words[0] = words[0][:1] + escape + "\n" + words[0][1:]
	case 5:
		words = append([]string{"<<E"}, words...)
		return keyword + flags + strings.Join(words, " ") + "\nbin/app\nE\n"
	}
	return keyword + flags + strings.Join(words, r.of(" ", "\t", "   ")) + "\n"
}

func (r random) ignore() string {
	text := ""
	for range r.IntN(3) {
		text += r.of("bin", "bin/", "*", "**", "!bin/app-linux-*", "bin/app*", "# bin", "!LICENSE", "bin/*-arm*", "") + r.of("\n", "\n", "\r\n")
	}
	if r.IntN(3) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}
