package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// answers is what archmage does about each fault.
var answers = map[faulty.Fault]string{
	faulty.TooMany:            "every request to that host waits, then this one is repeated",
	faulty.TooManySeconds:     "as long as the registry asks",
	faulty.TooManyDate:        "until the registry's date",
	faulty.Secondary:          "a rate limit, not a denial: a minute at first, 30 s at least",
	faulty.SecondarySeconds:   "as long as the registry asks",
	faulty.Timeout:            "repeated",
	faulty.Internal:           "repeated",
	faulty.BadGateway:         "repeated",
	faulty.Unavailable:        "repeated",
	faulty.UnavailableSeconds: "every request to that host waits as long as the registry asks",
	faulty.Reset:              "repeated",
	faulty.LostAnswer:         "repeated: every write may be done twice",
	faulty.Expired:            "a new token is fetched once",
	faulty.Cut:                "read again, whole",
	faulty.Corrupt:            "found by its digest, under a tag too; read again",
	faulty.Drip:               "waited for",
	faulty.Stale:              "asked again after a write of the same run",
	faulty.CutUpload:          "the upload begins anew",
	faulty.DripUpload:         "waited for",
	faulty.UploadLost:         "the upload begins anew; never taken for an absence",
	faulty.BlobNotThere:       "the manifest is sent again",
}

// trials are the tests that the document tells of.
var trials = []struct{ file, test, done, ci, nightly, held string }{
	{
		"../../build/schedule_test.go", "TestSchedules", "`image`, `manifest` and `promote` through the faults above, 3 of 10 requests failing, up to 30 retries",
		n(faulty.Schedules / 2), n(faulty.NightlySchedules / 2), "exit code 0, every shared tag is exactly the expected index",
	},
	{
		"../../build/schedule_test.go", "TestSchedules", "the same with up to 2 retries, 2 to 40 of 100 requests failing",
		n(faulty.Schedules / 2), n(faulty.NightlySchedules / 2), "exit code 0 or 1, 3 only for what is absent; errors of one line with a hint; after every verb each shared tag is untouched or whole; the same commands without faults complete it",
	},
	{
		"faults_kill_test.go", "TestAKilledRunIsCompletedByTheNext", "kill -9 before or after the registry has done a write, or at any time",
		n(faulty.Kills), n(faulty.NightlyKills), "no shared tag is partial; the next run completes, uploads no blob twice and leaves nothing behind in `dist/`",
	},
	{
		"faults_kill_test.go", "TestAKilledLayoutIsCompletedByTheNext", "kill -9 at any time while `dist/` is written",
		n(faulty.Kills), n(faulty.NightlyKills), "after the next run, the files of an undisturbed run and no other",
	},
	{
		"../../build/together_test.go", "TestTwoRunsAtOnce", "two runs at once of one version, and of two versions with `latest`", "6", "6",
		"every shared tag is one of the two, whole, at any time",
	},
	{"faults_test.go", "TestTwoProcessesAtOnce", "the same as processes", "4", "4", "the same"},
	{
		"faults_test.go", "TestAnInterruptEndsAPushAtOnce", "an interrupt while a registry does not answer an upload", "3", "3",
		"exit code 130 within two seconds, no shared tag moved, no temporary files",
	},
}

func n(i int) string { return fmt.Sprint(i) }

// TestReliabilityDocumentIsWhatTheTestsDo compares docs/reliability.md; UPDATE=1
// writes it.
func TestReliabilityDocumentIsWhatTheTestsDo(t *testing.T) {
	const file = "../../docs/reliability.md"
	for _, trial := range trials {
		if source, err := os.ReadFile(trial.file); err != nil || !strings.Contains(string(source), "func "+trial.test+"(t *testing.T)") {
			t.Errorf("there is no %s in %s", trial.test, trial.file)
		}
	}
	sizes := fmt.Sprintf("schedules=%d\n\tkills=%d\n", faulty.NightlySchedules, faulty.NightlyKills)
	if script, err := os.ReadFile("../../scripts/test-engines"); err != nil || !strings.Contains(string(script), sizes) {
		t.Errorf("scripts/test-engines --nightly has other sizes than %q", sizes)
	}
	want := reliability(t)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s differs from the tests; write it with: UPDATE=1 go test ./cmd/archmage", file)
	}
}

func reliability(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Reliability

Generated from the tests; write it anew with ` + "`make docs`" + `.

Whole releases of two images for two platforms are published through a proxy that
fails on purpose, to an in-process registry, to archmage-registry and, with the
engines, to docker-registry. A reader polls the shared tags all the while. What
fails is decided by a seed, so that a run can be played again:
` + "`go test ./build -run TestSchedules -faults.seed 7 -faults.schedules 1`" + `.

## What is made to fail

The tests fail unless the schedules of CI meet every one of these.

| fault | where | what archmage does |
|---|---|---|
`)
	for _, f := range faulty.Faults() {
		if answers[f] == "" {
			t.Errorf("nothing is said of %q", f)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f, f.Where(), answers[f])
	}
	b.WriteString(`
## What has to hold

| what is done | in CI | nightly | what holds |
|---|---|---|---|
`)
	for _, trial := range trials {
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %s | %s |\n", trial.done, trial.test, trial.ci, trial.nightly, trial.held)
	}
	b.WriteString(`
` + "`scripts/test-engines`" + ` plays the schedules and kills the runs on docker-registry as often
again.
`)
	return b.String()
}
