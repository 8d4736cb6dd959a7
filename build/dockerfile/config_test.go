package dockerfile

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/platform"
)

const path0 = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func TestConfigOfScratchHasTheDefaults(t *testing.T) {
	in := input(t, "FROM scratch\nCOPY a /a\n")
	r := evaluate(t, in)
	want := `{"architecture":"arm64","os":"linux","rootfs":{"type":"layers","diff_ids":null},` +
		`"history":[{"created_by":"COPY a /a # buildkit","comment":"buildkit.dockerfile.v0"}],` +
		`"config":{"Env":["` + path0 + `"],"WorkingDir":"/"}}`
	if string(r.Config) != want {
		t.Errorf("got  %s\nwant %s", r.Config, want)
	}
}

func TestConfigNamesTheTargetPlatform(t *testing.T) {
	for text, want := range map[string][4]string{ // architecture, variant, TARGETVARIANT, TARGETPLATFORM
		"linux/arm":      {"arm", "v7", "v7", "linux/arm/v7"},
		"linux/arm/v6":   {"arm", "v6", "v6", "linux/arm/v6"},
		"linux/arm64/v8": {"arm64", "", "", "linux/arm64"},
		"linux/amd64":    {"amd64", "", "", "linux/amd64"},
		"linux/amd64/v2": {"amd64", "v2", "v2", "linux/amd64/v2"},
		"linux/riscv64":  {"riscv64", "", "", "linux/riscv64"},
	} {
		p, err := platform.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		in := input(t, "FROM --platform=$BUILDPLATFORM alpine\nARG TARGETVARIANT TARGETPLATFORM\nCOPY v$TARGETVARIANT-$TARGETPLATFORM /\n")
		in.Platform = p
		r := evaluate(t, in)
		c := configOf(t, r)
		if c.Architecture != want[0] || c.Variant != want[1] || r.Context.Paths[0] != "v"+want[2]+"-"+want[3] {
			t.Errorf("%s: config %s %q, copies %v", text, c.Architecture, c.Variant, r.Context.Paths)
		}
		if r.Platform != p || r.FinalBase.Platform.Arch != "amd64" {
			t.Errorf("%s: platform %s on a base for %s", text, r.Platform, r.FinalBase.Platform)
		}
	}
	// Variants that nobody normalised.
	in := input(t, "FROM scratch\nARG TARGETVARIANT\nCOPY v$TARGETVARIANT /\n")
	in.Platform.Variant = "v8"
	if r := evaluate(t, in); r.Context.Paths[0] != "v" || r.Platform != arm64 {
		t.Errorf("arm64/v8: %s copies %v", r.Platform, r.Context.Paths)
	}
}

func TestConfigFollowsTheInstructions(t *testing.T) {
	r := evaluate(t, input(t, strings.Join([]string{
		"FROM scratch", "MAINTAINER me", "EXPOSE 8080 9090/udp 7000-7001/tcp", "EXPOSE $UNSET", `VOLUME /v1 /v2`, `LABEL k="v w" c=`,
		"HEALTHCHECK --interval=5s --start-interval=2s --retries=2 CMD /app -h", "STOPSIGNAL SIGINT", "USER $U",
		`ENV PATH=/x:$PATH S='$S' OLD="a b"`, `ENTRYPOINT ["/app","$HOME"]`, `CMD ["a"]`, "WORKDIR /d/./e/../f/", "WORKDIR rel", "ONBUILD RUN x",
	}, "\n")+"\n"))
	c := configOf(t, r)
	health, _ := json.Marshal(c.Config.Healthcheck)
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"author", c.Author, "me"},
		{"ports", len(c.Config.ExposedPorts), 4},
		{"volumes", len(c.Config.Volumes), 2},
		{"labels", c.Config.Labels, map[string]string{"k": "v w", "c": ""}},
		{"healthcheck", string(health), `{"Interval":5000000000,"Retries":2,"StartInterval":2000000000,"Test":["CMD-SHELL","/app -h"]}`},
		{"signal", c.Config.StopSignal, "SIGINT"},
		{"user", c.Config.User, ""},
		{"env", c.Config.Env, []string{"PATH=/x:" + strings.TrimPrefix(path0, "PATH="), "S=$S", "OLD=a b"}},
		{"entrypoint", c.Config.Entrypoint, []string{"/app", "$HOME"}},
		{"cmd", c.Config.Cmd, []string{"a"}},
		{"args escaped", c.Config.ArgsEscaped, true},
		{"workdir", c.Config.WorkingDir, "/d/f/rel"},
		{"onbuild", c.Config.OnBuild, []string{"RUN x"}},
		{"root file system", string(c.RootFS), `{"type":"layers","diff_ids":null}`},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

func TestHistoryHasBuildKitsTexts(t *testing.T) {
	r := evaluate(t, input(t, "FROM scratch\nARG TARGETARCH W\nCOPY bin/$TARGETARCH /a\nENV A=2 B=1\nENTRYPOINT [\"/a\"]\nCMD [\"a\",\"b\"]\nEXPOSE 80 443\nWORKDIR /a/../b\nSHELL [\"/bin/ash\",\"-c\"]\n"))
	want := []string{
		"ARG TARGETARCH=arm64 W -", "COPY bin/arm64 /a # buildkit +", "ENV A=2 B=1 -", `ENTRYPOINT ["/a"] -`, `CMD ["a" "b"] -`,
		"EXPOSE [443/tcp 80/tcp] -", "WORKDIR /a/../b +", "SHELL [/bin/ash -c] -",
	}
	var got []string
	for _, h := range configOf(t, r).History {
		layer := " +"
		if h.EmptyLayer {
			layer = " -"
		}
		got = append(got, h.CreatedBy+layer)
		if h.Comment != "buildkit.dockerfile.v0" || h.Created != nil {
			t.Errorf("%s: comment %q, created %v", h.CreatedBy, h.Comment, h.Created)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestConfigIsBuiltOnTheBases(t *testing.T) {
	in := input(t, "FROM base\nENTRYPOINT [\"/x\"]\nRUN echo\n")
	in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/base:latest": imageOf(
		`{"Env":["A=1"],"Cmd":["sh"],"User":"7","WorkingDir":"/w","Labels":{"l":"b"},"Shell":["/bin/ash","-c"]}`)}}
	in.Labels = map[string]string{"l": "mine", "m": "x"}
	r := evaluate(t, in)
	c := configOf(t, r)
	if c.Config.Cmd != nil || c.Config.User != "7" || c.Config.WorkingDir != "/w" || c.Config.Labels["l"] != "mine" || c.Config.Labels["m"] != "x" {
		t.Errorf("config %+v", c.Config)
	}
	if c.History[0].CreatedBy != "base" || len(c.History) != 3 || string(c.RootFS) != `{"type":"layers","diff_ids":null}` {
		t.Errorf("history %+v, rootfs %s", c.History, c.RootFS)
	}
	if want := (Base{Ref: "docker.io/library/base:latest", Digest: someDigest, Platform: arm64}); *r.FinalBase != want || *r.Ops[0].Base != want {
		t.Errorf("base %+v, want %+v", r.FinalBase, want)
	}
	if args := r.Ops[1].Run.Args; strings.Join(args, " ") != "/bin/ash -c echo" {
		t.Errorf("run %q", args)
	}
}

func TestEpochSetsEveryTime(t *testing.T) {
	in := input(t, "FROM scratch\nWORKDIR /a\nCOPY a /a\n")
	at := time.Unix(1700000000, 5)
	in.Epoch = &at
	in.Args = map[string]string{"SOURCE_DATE_EPOCH": "5"}
	r := evaluate(t, in)
	for _, h := range configOf(t, r).History {
		if h.Created == nil || *h.Created != "2023-11-14T22:13:20Z" {
			t.Errorf("%s: created %v", h.CreatedBy, h.Created)
		}
	}
	if got := r.Ops[0].File.Actions[0].Mkdir.Timestamp; got != 1700000000e9 {
		t.Errorf("directory made at %d", got)
	}
	if got := r.Ops[2].File.Actions[0].Copy.Timestamp; got != -1 {
		t.Errorf("file copied as of %d, want its own time", got)
	}
	if len(in.Args) != 1 || in.Args["SOURCE_DATE_EPOCH"] != "5" {
		t.Errorf("the caller's arguments were written to: %v", in.Args)
	}
}

func TestNameCarriesThePlatformOfSeveral(t *testing.T) {
	in := input(t, "FROM alpine\nCOPY a /a\n")
	if got := evaluate(t, in).Ops[2].Name; got != "[2/2] COPY a /a" {
		t.Errorf("name %q", got)
	}
	in.MultiPlatform = true
	if got := evaluate(t, in).Ops[2].Name; got != "[linux/arm64 2/2] COPY a /a" {
		t.Errorf("name %q", got)
	}
}
