package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

func runner(p platform.Platform) string {
	if p.Arch == "arm64" {
		return "arm"
	}
	return "any"
}

// jobs of images, each of which needs RUN on the platforms named.
func jobPlan(t *testing.T, platforms string, images map[string]string) *Plan {
	t.Helper()
	p := &Plan{}
	for _, name := range sortedKeys(images) {
		img := Image{Name: name, Platforms: platformsOf(t, platforms)}
		p.Images = append(p.Images, img)
		for _, pl := range img.Platforms {
			engine := Native
			if slices.Contains(platformsOf(t, images[name]), pl) {
				engine = "buildx"
			}
			p.Legs = append(p.Legs, Leg{Image: name, Platform: pl, Engine: engine})
		}
	}
	return p
}

func spread(t *testing.T, p *Plan, platforms string, most int) []string {
	t.Helper()
	list, err := p.Jobs(JobOptions{Platforms: platformsOf(t, platforms), Runner: runner, Max: most})
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, j := range list {
		lines = append(lines, fmt.Sprintf("%s: %s on %s, %s %s", j.Name, j.Images, j.Platforms, j.Runner, j.Engine))
	}
	return lines
}

func TestNativeLegsAreOneJobAndOthersOneEach(t *testing.T) {
	const both = "linux/amd64,linux/arm64"
	got := spread(t, jobPlan(t, both, map[string]string{"api": "", "db": both, "web": ""}), both, 0)
	want := []string{
		"native api web: api web on linux/amd64 linux/arm64, any native",
		"db linux/amd64: db on linux/amd64, any buildx",
		"db linux/arm64: db on linux/arm64, arm buildx",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An image with RUN on one platform alone is not built there by the native job.
func TestAJobBuildsNoLegOfAnother(t *testing.T) {
	const both = "linux/amd64,linux/arm64"
	got := spread(t, jobPlan(t, both, map[string]string{"api": "", "mixed": "linux/arm64"}), both, 0)
	want := []string{
		"native api: api on linux/amd64 linux/arm64, any native",
		"native mixed: mixed on linux/amd64, any native",
		"mixed linux/arm64: mixed on linux/arm64, arm buildx",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMaxGroupsLegsOfOneRunner(t *testing.T) {
	const all = "linux/amd64,linux/arm64,linux/s390x"
	p := jobPlan(t, all, map[string]string{"a": all, "b": all, "c": all, "d": ""})
	for most, want := range map[int][]string{
		3: {
			"native d: d on linux/amd64 linux/arm64 linux/s390x, any native",
			"a b c linux/amd64 linux/s390x: a b c on linux/amd64 linux/s390x, any buildx",
			"a b c linux/arm64: a b c on linux/arm64, arm buildx",
		},
		2:  {"2 jobs: the legs cannot be grouped further: jobs have one runner and one engine each"},
		1:  {"1 jobs: the legs cannot be grouped further: jobs have one runner and one engine each"},
		99: spread(t, p, all, 0),
	} {
		if got := spread(t, p, all, most); !slices.Equal(got, want) {
			t.Errorf("%d: got\n%s\nwant\n%s", most, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := spread(t, p, all, 4); len(got) != 4 {
		t.Errorf("4: %q", got)
	}
}

func TestNamesOfJobsAreShort(t *testing.T) {
	images := map[string]string{}
	for i := range 12 {
		images[fmt.Sprintf("image%02d", i)] = ""
	}
	got := spread(t, jobPlan(t, "linux/amd64", images), "linux/amd64", 0)
	if len(got) != 1 || !strings.HasPrefix(got[0], "native image00 image01 image02 and 9 more: ") {
		t.Error(got)
	}
}

// Whatever is missing, the jobs build each leg once and nothing else.
func TestJobsBuildEachLegOnce(t *testing.T) {
	const all = "linux/amd64,linux/arm/v6,linux/arm64,linux/s390x"
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		images := map[string]string{}
		for i := range 1 + r.IntN(5) {
			images[string(rune('a'+i))] = strings.Join(strings.Split(all, ",")[r.IntN(5):], ",")
		}
		p := jobPlan(t, all, images)
		full := len(p.Legs)
		p.Legs = slices.DeleteFunc(p.Legs, func(Leg) bool { return full > 4 && r.IntN(3) == 0 })
		most := r.IntN(6)
		list, err := p.Jobs(JobOptions{Platforms: platformsOf(t, all), Runner: runner, Max: most})
		if err != nil {
			continue
		}
		if most > 0 && len(list) > most {
			t.Fatalf("%d jobs, at most %d", len(list), most)
		}
		built := map[string]int{}
		for _, j := range list {
			for _, name := range strings.Fields(j.Images) {
				for _, pl := range strings.Fields(j.Platforms) {
					built[name+" "+pl]++
				}
			}
		}
		for _, l := range p.Legs {
			if built[l.Image+" "+l.Platform.String()] != 1 {
				t.Fatalf("%s %s is built %d times by %+v", l.Image, l.Platform, built[l.Image+" "+l.Platform.String()], list)
			}
		}
		if len(built) != len(p.Legs) {
			t.Fatalf("%d legs are built, %d planned", len(built), len(p.Legs))
		}
	}
}
