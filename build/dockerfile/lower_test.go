package dockerfile

import (
	"strings"
	"testing"
)

func TestOperationsAreWhatTheInstructionsSay(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"scratch alone", "FROM scratch", "= -1"},
		{"base alone", "FROM alpine", "0 base L1 docker.io/library/alpine:latest linux/arm64\n= 0"},
		{"config only on a base", "FROM alpine\nUSER 1\nENTRYPOINT [\"/a\"]", "0 base L1 docker.io/library/alpine:latest linux/arm64\n= 0"},
		{"file to a directory", "FROM scratch\nCOPY a.txt /x/", "0 context [a.txt]-[]\n1 file L2 on -1: copy 0:/a.txt /x/\n= 1"},
		{"relative destination", "FROM scratch\nWORKDIR /w\nCOPY a.txt .\nCOPY a.txt rel", `
0 file L2 on -1: mkdir /w 0755
1 context [a.txt]-[]
2 file L3 on 0: copy 1:/a.txt /w/
3 file L4 on 2: copy 1:/a.txt /w/rel
= 3`},
		{"several sources are one layer", "FROM scratch\nCOPY a b /x", "0 context [a b]-[]\n1 file L2 on -1: copy 0:/a /x; copy 0:/b /x\n= 1"},
		{"wildcard", "FROM scratch\nCOPY *.nope d/* /x/", "0 context [*.nope d/*]-[]\n1 file L2 on -1: copy 0:/*.nope /x/ wild; copy 0:/d/* /x/ wild\n= 1"},
		{"JSON form", "FROM scratch\nCOPY [\"sp ace\", \"/s p/\"]", "0 context [sp ace]-[]\n1 file L2 on -1: copy 0:/sp ace /s p/\n= 1"},
		{"whole context", "FROM scratch\nCOPY . /all/\nCOPY a /b", "0 context []-[]\n1 file L2 on -1: copy 0:/ /all/\n2 file L3 on 1: copy 0:/a /b\n= 2"},
		{"paths are cleaned", "FROM scratch\nCOPY ../a.txt /b.txt d/../c.txt /x/", "0 context [a.txt b.txt c.txt]-[]\n1 file L2 on -1: copy 0:/a.txt /x/; copy 0:/b.txt /x/; copy 0:/c.txt /x/\n= 1"},
		{"from an image", "FROM scratch\nCOPY --from=alpine:3.20 /etc/ssl /etc/ssl", "0 base L2 docker.io/library/alpine:3.20 linux/arm64\n1 file L2 on -1: copy 0:/etc/ssl /etc/ssl\n= 1"},
		{"from scratch", "FROM scratch\nCOPY --from=scratch --chmod=777 / /home/g", "0 file L2 on -1: copy -1:/ /home/g mode 0777\n= 0"},
		{"from a stage by index", "FROM alpine\nFROM scratch\nCOPY --from=0 /a /b", "0 base L1 docker.io/library/alpine:latest linux/arm64\n1 file L3 on -1: copy 0:/a /b\n= 1"},
		{"parents", "FROM scratch\nCOPY --parents a/./b/*.x d/x /p/", "0 context [a/b/*.x d/x]-[]\n1 file L2 on -1: copy 0:/a /p/ wild [b/*.x]; copy 0:/ /p/ [d/x] [/d/x]\n= 1"},
		{"exclude", "FROM scratch\nCOPY --exclude=*.txt --exclude=b d /e/", "0 context [d]-[]\n1 file L2 on -1: copy 0:/d /e/ [*.txt b]\n= 1"},
		{"link on scratch is one layer", "FROM scratch\nCOPY --link a /a", "0 context [a]-[]\n1 file L2 on -1: copy 0:/a /a\n= 1"},
		{"link on a base is a merge", "FROM alpine\nCOPY --link --chown=1:2 a /a", `
0 base L1 docker.io/library/alpine:latest linux/arm64
1 context [a]-[]
2 file L2 on -1: copy 1:/a /a owner 1:2
3 merge L2 [0 2]
= 3`},
		{"link with chmod is a plain copy", "FROM alpine\nCOPY --link --chmod=755 a /a", "0 base L1 docker.io/library/alpine:latest linux/arm64\n1 context [a]-[]\n2 file L2 on 0: copy 1:/a /a mode 0755\n= 2"},
		{"modes", "FROM scratch\nCOPY --chmod=4755 a /1\nCOPY --chmod=0 a /2\nCOPY --chmod=u=rwX,go=rX a /3", `
0 context [a]-[]
1 file L2 on -1: copy 0:/a /1 mode 4755
2 file L3 on 1: copy 0:/a /2 mode 0000
3 file L4 on 2: copy 0:/a /3 mode u=rwX,go=rX
= 3`},
		{"owners", "FROM scratch\nCOPY --chown=bob:grp a /1\nCOPY --chown=bob a /2\nCOPY --chown=:30 a /3\nCOPY --chown=root:root a /4\nCOPY --chown=svc: a /5", `
0 context [a]-[]
1 file L2 on -1: copy 0:/a /1 owner bob@-1:grp@-1
2 file L3 on 1: copy 0:/a /2 owner bob@1:
3 file L4 on 2: copy 0:/a /3 owner 0:30
4 file L5 on 3: copy 0:/a /4 owner 0:0
5 file L6 on 4: copy 0:/a /5 owner svc@4:
= 5`},
		{"names with --from are the target's", "FROM alpine AS s\nFROM busybox\nCOPY --from=s --chown=bob a /1", `
0 base L2 docker.io/library/busybox:latest linux/arm64
1 base L1 docker.io/library/alpine:latest linux/arm64
2 file L3 on 0: copy 1:/a /1 owner bob@0:
= 2`},
		{"workdir of a user", "FROM scratch\nUSER 65532:65532\nWORKDIR /a\nWORKDIR ../b/./c\nWORKDIR /", "0 file L3 on -1: mkdir /a 0755 owner 65532:65532\n1 file L4 on 0: mkdir /b/c 0755 owner 65532:65532\n= 1"},
		{"workdir of a named user on scratch", "FROM scratch\nUSER bob\nWORKDIR /a", "0 file L3 on -1: mkdir /a 0755 owner bob@-1:\n= 0"},
		{"heredocs", "FROM scratch\nARG V=x\nCOPY --chmod=600 <<A <<\"B\" <<-C /etc/\n$V \\$V \"$U\" \\\\n\nA\n$V\nB\n\t\tc\nC", `
0 file L3 on -1: write /C 0644 "c\n"
1 file L3 on -1: write /B 0644 "$V\n"
2 file L3 on -1: write /A 0644 "x $V \"\" \\n\n"
3 file L3 on -1: copy 2:/A /etc/ mode 0600 exact; copy 1:/B /etc/ mode 0600 exact; copy 0:/C /etc/ mode 0600 exact
= 3`},
		{"ADD unpacks", "FROM scratch\nADD t.tgz /\nADD --unpack=false t.tgz /x/", "0 context [t.tgz]-[]\n1 file L2 on -1: copy 0:/t.tgz / unpack\n2 file L3 on 1: copy 0:/t.tgz /x/\n= 2"},
		{"ADD of a URL", "FROM scratch\nADD --checksum=" + someDigest + " https://example.com/d/f.tgz?q /x/\nADD --unpack https://example.com/ /y", `
0 http L2 https://example.com/d/f.tgz?q f.tgz 0600 ` + someDigest + `
1 file L2 on -1: copy 0:/f.tgz /x/ exact
2 http L3 https://example.com/ __unnamed__ 0600 
3 file L3 on 1: copy 2:/__unnamed__ /y unpack exact
= 3`},
		{"ADD from git", "FROM scratch\nADD https://github.com/moby/buildkit.git#v0.1:docs /z", "0 git L2 https://github.com/moby/buildkit.git#v0.1:docs\n1 file L2 on -1: copy 0:/ /z exact\n= 1"},
		{"RUN", "FROM alpine AS b\nFROM scratch\nRUN --mount=from=b,source=x,target=/m --mount=type=cache,target=/c --mount=type=bind,target=/ctx [\"/a\", \"b\"]", `
0 context []-[]
1 base L1 docker.io/library/alpine:latest linux/arm64
2 run L3 on -1: /a b mount 0:/ /ctx mount 1:/x /m
= 2`},
		{"equal instructions are one operation", "FROM scratch AS a\nCOPY f /f\nFROM scratch AS b\nCOPY f /f\nFROM scratch\nCOPY --from=a /f /1\nCOPY --from=b /f /2", `
0 context [f]-[]
1 file L2 on -1: copy 0:/f /f
2 file L6 on -1: copy 1:/f /1
3 file L7 on 2: copy 1:/f /2
= 3`},
		{"an unused stage is not there", "FROM nosuch AS x\nRUN false\nFROM scratch\nCOPY a /a", "0 context [a]-[]\n1 file L4 on -1: copy 0:/a /a\n= 1"},
		{"the last stage of a name counts", "FROM alpine AS x\nFROM busybox AS x\nFROM x\n", "0 base L2 docker.io/library/busybox:latest linux/arm64\n= 0"},
		{"stage names have no case", "FROM alpine AS Build\nFROM scratch\nCOPY --from=BUILD /a /a", "0 base L1 docker.io/library/alpine:latest linux/arm64\n1 file L3 on -1: copy 0:/a /a\n= 1"},
		{"base of another platform", "FROM --platform=$BUILDPLATFORM golang AS b\nFROM --platform=linux/arm alpine\nCOPY --from=b /a /a", `
0 base L2 docker.io/library/alpine:latest linux/arm/v7
1 base L1 docker.io/library/golang:latest linux/amd64
2 file L3 on 0: copy 1:/a /a
= 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := evaluate(t, input(t, c.text+"\n"))
			if got, want := show(r), strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", c.text, got, want)
			}
			for i, op := range r.Ops {
				for _, in := range op.Inputs {
					if in >= i || in < 0 {
						t.Errorf("operation %d needs %d, which does not come before it", i, in)
					}
				}
			}
		})
	}
}

// A stand-in must not make any difference to what is copied.
func TestArgumentsHaveBuildKitsScope(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		args             map[string]string
		rule             string // a lint rule that must warn
	}{
		{name: "declared in the stage", text: "FROM scratch\nARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app", want: "bin/app-linux-arm64"},
		{name: "declared before FROM only", text: "ARG TARGETARCH\nFROM scratch\nCOPY bin/app-linux-${TARGETARCH} /app", want: "bin/app-linux-", rule: "UndefinedVar"},
		{name: "default in the stage wins", text: "FROM scratch\nARG TARGETARCH=amd64\nCOPY bin/app-linux-${TARGETARCH} /app", want: "bin/app-linux-amd64"},
		{name: "global default wins", text: "ARG TARGETARCH=amd64\nFROM scratch\nARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app", want: "bin/app-linux-amd64"},
		{name: "global without default is harmless", text: "ARG TARGETARCH\nFROM scratch\nARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app", want: "bin/app-linux-arm64"},
		{name: "fallback, declared", text: "FROM scratch\nARG TARGETARCH\nCOPY bin/${TARGETARCH:-amd64} /app", want: "bin/arm64"},
		{name: "fallback, not declared", text: "FROM scratch\nCOPY bin/${TARGETARCH:-amd64} /app", want: "bin/amd64", rule: "UndefinedVar"},
		{name: "inherited from a stage", text: "FROM scratch AS a\nARG TARGETARCH\nFROM a\nCOPY bin/$TARGETARCH /app", want: "bin/arm64"},
		{name: "not from an unrelated stage", text: "FROM scratch AS a\nARG TARGETARCH\nFROM scratch\nCOPY bin/x$TARGETARCH /app", want: "bin/x", rule: "UndefinedVar"},
		{name: "later ARG wins over ENV", text: "FROM scratch\nENV T=env\nARG T\nCOPY $T /app", args: map[string]string{"T": "cli"}, want: "cli"},
		{name: "later ENV wins over ARG", text: "FROM scratch\nARG T\nENV T=env\nCOPY $T /app", args: map[string]string{"T": "cli"}, want: "env"},
		{name: "ARG default wins over a parent's ENV", text: "FROM scratch AS p\nENV H=base\nFROM p\nARG H=def\nCOPY $H /app", want: "def"},
		{name: "bare ARG keeps a parent's ENV", text: "FROM scratch AS p\nENV H=base\nFROM p\nARG H\nCOPY $H /app", want: "base"},
		{name: "old value on one line", text: "FROM scratch\nENV A=1\nENV A=2 B=$A\nCOPY $A-$B /app", want: "2-1"},
		{name: "several keys", text: "FROM scratch\nARG TARGETOS TARGETARCH X=1\nCOPY $TARGETOS-$TARGETARCH-$X /app", want: "linux-arm64-1"},
		{name: "variant of arm64 is empty", text: "FROM scratch\nARG TARGETVARIANT\nCOPY x${TARGETVARIANT} /app", want: "x"},
		{name: "build platform", text: "FROM scratch\nARG BUILDARCH\nCOPY $BUILDARCH /app", want: "amd64"},
		{name: "wildcard stays", text: "FROM scratch\nARG TARGETARCH\nCOPY bin/*-$TARGETARCH /app", want: "bin/*-arm64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(t, c.text+"\n")
			in.Args = c.args
			r := evaluate(t, in)
			if got := strings.Join(r.Context.Paths, " "); got != c.want || r.Context.Whole {
				t.Errorf("copies %q, want %q", got, c.want)
			}
			warned := ""
			for _, w := range r.Warnings {
				warned += w.Rule
			}
			if c.rule != "" && !strings.Contains(warned, c.rule) || c.rule == "" && warned != "" {
				t.Errorf("warnings %q, want %q", warned, c.rule)
			}
		})
	}
}
