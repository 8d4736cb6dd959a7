package build

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

var (
	schedules    = flag.Int("faults.schedules", faulty.Schedules, "schedules of faults to play")
	scheduleSeed = flag.Uint64("faults.seed", 1, "seed of the first schedule; the next ones follow")
)

// TestSchedules publishes through registries that fail. Half of the schedules
// have patience: the run ends well. The others have little and may fail, but
// never leave half a release, and a second run without faults completes it.
func TestSchedules(t *testing.T) {
	program := buildRegistry(t)
	playAll(t, inProcess, func(t *testing.T) upstream { return ownRegistry(t, program) })
}

func playAll(t *testing.T, upstreams ...func(*testing.T) upstream) {
	old, recent := releases()
	learn(t, old, recent)
	var mu sync.Mutex
	injected := map[faulty.Fault]int{}
	t.Run("all", func(t *testing.T) {
		for i := range *schedules {
			seed := *scheduleSeed + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				s := newSchedule(t, seed, upstreams, old, recent)
				s.play()
				mu.Lock()
				defer mu.Unlock()
				for f, n := range s.proxy.Injected() {
					injected[f] += n
				}
			})
		}
	})
	for _, f := range faulty.Faults() {
		if injected[f] == 0 && *schedules >= faulty.Schedules {
			t.Errorf("%d schedules without: %s", *schedules, f)
		}
	}
	t.Log(injected)
}

// schedule is one run of every verb through a proxy.
type schedule struct {
	*site
	seed        uint64
	up          upstream
	proxy       *faulty.Proxy
	prefix      string
	patient     bool
	rate        float64
	streak      int
	faults      []faulty.Fault
	favourite   faulty.Fault
	login       bool
	was, recent *release
	moving      []string // shared tags that may be the new ones
	moved       []string // shared tags that are certain to be
}

func newSchedule(t *testing.T, seed uint64, ups []func(*testing.T) upstream, old, recent *release) *schedule {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 0))
	s := &schedule{seed: seed, recent: recent, patient: seed%2 == 0, prefix: fmt.Sprintf("faults%d/s%d", os.Getpid(), seed)}
	s.up = ups[dice.IntN(len(ups))](t) // one of its own: blobs are common to all repositories
	var closeProxy func()
	var host string
	s.proxy, host, closeProxy = faulty.Serve(s.up.parsed(t), faulty.Plan{})
	t.Cleanup(closeProxy)
	s.site = newSite(t, host+"/"+s.prefix, recent)
	if dice.IntN(2) == 0 { // an older release is there
		s.was = old
		s.checkout(old)
		s.publish(old)
		s.checkout(recent)
	}
	// Every fault has schedules where it happens for certain, and more often than others.
	s.favourite = faulty.Faults()[seed/2%uint64(len(faulty.Faults()))]
	s.faults = append(faulty.Faults(), slices.Repeat([]faulty.Fault{s.favourite}, 5)...)
	s.login = dice.IntN(2) == 0 || s.favourite == faulty.Expired
	s.rate, s.streak, s.retry = 0.3, 5, 30
	if !s.patient {
		s.rate, s.streak, s.retry = []float64{0.02, 0.05, 0.1, 0.2, 0.4}[dice.IntN(5)], 0, dice.IntN(3)
	}
	return s
}

// plan is what goes wrong during the nth verb.
func (s *schedule) plan(n int) faulty.Plan {
	return faulty.Plan{
		Seed: s.seed<<8 + uint64(n), Rate: s.rate, Streak: s.streak, Faults: s.faults, First: s.favourite, Login: s.login, Now: s.clock.now,
	}
}

func (s *schedule) play() {
	s.t.Helper()
	for n, step := range s.recent.steps() {
		s.proxy.Set(s.plan(n))
		s.moving = append(s.moving, step.moves...)
		stop := s.expect().Watch(s.up.url)
		got := s.verb(step.verb, s.recent, step.flags)
		if err := stop(); err != nil {
			s.t.Errorf("a reader, during %s: %v", step.verb, err)
		}
		s.judge(step, got)
	}
	if s.t.Failed() || s.patient {
		return
	}
	s.proxy.Set(faulty.Plan{})
	for _, step := range s.recent.steps() {
		if got := s.verb(step.verb, s.recent, step.flags); got.code != 0 {
			s.t.Errorf("%s again, without faults: exit code %d\n%s", step.verb, got.code, got.errOut)
		}
		s.moved = append(s.moved, step.moves...)
	}
	s.check("all of it")
}

func (s *schedule) expect() faulty.Shared {
	return shared(s.prefix, s.was, s.recent, s.moving, s.moved)
}

func (s *schedule) check(after string) {
	s.t.Helper()
	if err := s.expect().Check(s.t.Context(), s.up.url); err != nil {
		s.t.Errorf("after %s: %v", after, err)
	}
}

// judge compares how a verb ended with what the registry holds now.
func (s *schedule) judge(step step, got outcome) {
	s.t.Helper()
	if got.code == 0 {
		s.moved = append(s.moved, step.moves...)
	}
	s.check(step.verb)
	switch {
	case got.code == 0:
		return
	case s.patient:
		s.t.Errorf("%s: exit code %d\n%s", step.verb, got.code, got.errOut)
	case got.code == ExitAbsent && !s.somethingAbsent(step):
		s.t.Errorf("%s: absent, it says, and all is there\n%s", step.verb, got.errOut)
	case got.code != ExitFailed && got.code != ExitAbsent:
		s.t.Errorf("%s: exit code %d\n%s", step.verb, got.code, got.errOut)
	}
	for _, problem := range unclear(got.errOut) {
		s.t.Errorf("%s: unclear: %s", step.verb, problem)
	}
}

// somethingAbsent asks the registry itself for what a verb begins with.
func (s *schedule) somethingAbsent(step step) bool {
	tags := []string{s.recent.version}
	if step.verb == "manifest" {
		tags = []string{s.recent.version + "-amd64", s.recent.version + "-arm64"}
	}
	for _, img := range faulty.Images {
		for _, tag := range tags {
			d, err := faulty.Digest(s.t.Context(), s.up.url, s.prefix+"/"+img, tag)
			if err != nil {
				s.t.Error(err)
			}
			if d == "" {
				return true
			}
		}
	}
	return false
}

// clearLine is an error that says what failed, for what, and why.
var clearLine = regexp.MustCompile(`^archmage: ((image \S+ \S+: SBOM: )?(read|push|join|promote|move|log in to|read back|list referrers of) 127\.0\.0\.1:\d+\S*: \S|(join|promote): missing \d|move tags: moved )`)

// unclear lists the lines of an error output that do not help: every error is
// one line, followed by what to do.
func unclear(errOut string) (list []string) {
	lines := strings.Split(strings.TrimSuffix(errOut, "\n"), "\n")
	errors := 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "note: waiting "), strings.HasPrefix(line, "  hint: "),
			strings.HasPrefix(line, "image "), strings.HasPrefix(line, "manifest "), strings.HasPrefix(line, "promote "):
			continue
		case !clearLine.MatchString(line) || len(line) > 700 || strings.Contains(line, "http://"):
			list = append(list, line)
		case i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "  hint: "):
			list = append(list, "no hint: "+line)
		}
		errors++
	}
	if errors == 0 {
		list = append(list, "nothing says what failed:\n"+errOut)
	}
	return list
}
