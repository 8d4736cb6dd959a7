package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/plan"
)

// maxMatrix is how many jobs GitHub makes of one matrix, per workflow run
// (docs.github.com, "Workflow syntax", jobs.<job_id>.strategy.matrix).
const maxMatrix = 256

// matrix is what `strategy.matrix` of a job takes through fromJSON.
type matrix struct {
	Include []plan.Job `json:"include"`
}

// check refuses options that contradict each other.
func (o PlanOptions) check() error {
	switch {
	case o.GitHub && o.JSON:
		return Usage("plan --json has the same jobs, as a list", "plan: --github and --json are two formats")
	case o.Graph != "" && o.Graph != "text" && o.Graph != "mermaid":
		return Usage("write text or mermaid", "--graph: unknown value %q", o.Graph)
	case o.Graph != "" && (o.GitHub || o.JSON):
		return Usage("leave one of them out", "plan: --graph is a format of its own")
	case o.MaxJobs < 0:
		return Usage("e.g. --max-jobs 20", "--max-jobs: %d is less than one", o.MaxJobs)
	case o.MaxJobs > 0 && !o.GitHub && !o.JSON:
		return Usage("add --github or --json", "--max-jobs: jobs are in neither format that was asked for")
	case o.GitHub && o.MaxJobs > maxMatrix:
		return Usage(fmt.Sprintf("--max-jobs %d", maxMatrix), "--max-jobs: %d is more than GitHub's limit of %d per matrix", o.MaxJobs, maxMatrix)
	}
	return nil
}

// jobs spreads the legs of a plan over CI jobs. A leg that no engine may build
// is in none.
func (p *Project) jobs(pl *plan.Plan, o PlanOptions) ([]plan.Job, error) {
	able := *pl
	able.Legs = nil
	for _, leg := range pl.Legs {
		if leg.Engine != "" {
			able.Legs = append(able.Legs, leg)
		}
	}
	return able.Jobs(plan.JobOptions{Platforms: p.Platforms, Runner: p.Runner, Max: o.MaxJobs})
}

// printMatrix prints the jobs as lines NAME=value, and appends them to
// GITHUB_OUTPUT, where nothing is written when anything is wrong.
func (p *Project) printMatrix(pl *plan.Plan, o PlanOptions) error {
	if len(pl.Images) == 0 {
		return p.noImages()
	}
	if err := unbuildable(pl.Legs); err != nil {
		return err
	}
	jobs, err := p.jobs(pl, o)
	if err != nil {
		return err
	}
	if len(jobs) > maxMatrix {
		return Usage(fmt.Sprintf("group legs: --max-jobs %d; or split with WHAT", maxMatrix),
			"plan: %d jobs, and GitHub's limit is %d per matrix", len(jobs), maxMatrix)
	}
	if len(jobs) == 0 {
		p.console.Note("no leg is missing")
	}
	// JSON has no line break, so neither value can end its line.
	value, err := json.Marshal(matrix{append([]plan.Job{}, jobs...)})
	if err != nil {
		return err
	}
	lines := "matrix=" + string(value) + "\nempty=" + strconv.FormatBool(len(jobs) == 0) + "\n"
	if err := appendFile(p.disk, p.GitHub.Output, lines); err != nil {
		return fmt.Errorf("write GITHUB_OUTPUT: %w", err)
	}
	_, err = p.console.Write([]byte(lines))
	return err
}

// unbuildable says of legs that no engine may build why.
func unbuildable(legs []plan.Leg) error {
	var errs []error
	for _, leg := range legs {
		if leg.Engine == "" {
			errs = append(errs, Usage("docker buildx and buildah build it: leave IMAGE_ENGINE at auto", "image %s: %s", leg.Image, leg.Why))
		}
	}
	return errors.Join(dedupe(errs)...)
}

// appendFile adds text to a file with one write; "" is no file. What is in the
// file keeps its last line.
func appendFile(disk files.Disk, name, text string) error {
	if name == "" {
		return nil
	}
	before, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(before) > 0 && !strings.HasSuffix(string(before), "\n") {
		text = "\n" + text
	}
	return disk.Append(name, text)
}
