package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
)

// workflow is what the tests run of a workflow file.
type workflow struct {
	Env         map[string]string
	Permissions map[string]string
	Jobs        map[string]workflowJob
}

type workflowJob struct {
	Needs       any // one name, or several
	If          string
	Env         map[string]string
	Permissions map[string]string
	Outputs     map[string]string
	Strategy    struct{ Matrix any }
	Steps       []workflowStep
}

type workflowStep struct {
	ID, Name, If, Uses, Run string
	Env                     map[string]string
}

func (j workflowJob) needs() []string {
	switch v := j.Needs.(type) {
	case string:
		return []string{v}
	case []any:
		var names []string
		for _, name := range v {
			names = append(names, fmt.Sprint(name))
		}
		return names
	}
	return nil
}

func readWorkflow(t *testing.T, file string) workflow {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w
}

// hosted runs the jobs of a workflow as GitHub would: each in a clone of its own
// with a HOME of its own, and nothing of another job's but its outputs. Of the
// actions there are stand-ins; a step's `run` is run by bash as it stands.
type hosted struct {
	t        *testing.T
	workflow workflow
	origin   string // repository
	event    string // push, pull_request
	tag      string // what is checked out; "" is main
	registry string // takes the place of the workflow's
	images   []string
	env      []string
	rand     *rand.Rand
	explode  bool                              // a job per leg, whatever the plan groups
	context  func(name string) context.Context // of a job, for those that are killed

	mu      sync.Mutex
	results map[string]*jobResult // by job; of a matrix, all its entries
	log     bytes.Buffer
}

type jobResult struct {
	state   string // success, failure, skipped
	outputs map[string]string
	entries []*entryResult
}

type entryResult struct {
	matrix map[string]any
	state  string
	ran    int
}

// run runs what has not succeeded yet: all jobs at first, then, as "Re-run
// failed jobs" does, those that failed and those that wait for them.
func (h *hosted) run() {
	h.t.Helper()
	if h.results == nil {
		h.results = map[string]*jobResult{}
	}
	for name, r := range h.results {
		if r.state != "success" && len(r.entries) == 0 {
			delete(h.results, name)
		}
	}
	for _, name := range h.order() {
		job := h.workflow.Jobs[name]
		if r := h.results[name]; r != nil && r.state == "success" {
			continue
		}
		h.results[name] = h.job(name, job, h.results[name])
	}
}

// order lists the jobs, each behind those it needs.
func (h *hosted) order() []string {
	var order []string
	for len(order) < len(h.workflow.Jobs) {
		before := len(order)
		for _, name := range slices.Sorted(maps.Keys(h.workflow.Jobs)) {
			waits := slices.ContainsFunc(h.workflow.Jobs[name].needs(), func(n string) bool { return !slices.Contains(order, n) })
			if !waits && !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
		if len(order) == before {
			h.t.Fatalf("jobs that wait for each other, or for none: %v", order)
		}
	}
	return order
}

func (h *hosted) github() map[string]any {
	g := map[string]any{"event_name": h.event, "ref_type": "branch", "ref_name": "1/merge", "actor": "somebody", "token": "the-token"}
	if h.tag != "" {
		g["ref_type"], g["ref_name"] = "tag", h.tag
	}
	return g
}

// job decides whether a job runs, and runs it, or each entry of its matrix.
func (h *hosted) job(name string, job workflowJob, earlier *jobResult) *jobResult {
	needs := map[string]any{}
	for _, n := range job.needs() {
		r := h.results[n]
		if r.state != "success" {
			return &jobResult{state: "skipped"}
		}
		needs[n] = map[string]any{"result": r.state, "outputs": r.outputs}
	}
	s := scope{"github": h.github(), "needs": needs, "vars": map[string]string{}, "secrets": map[string]string{}}
	if job.If != "" {
		if v, err := s.value(job.If); err != nil {
			h.t.Fatalf("%s: %v", name, err)
		} else if !truth(v) {
			return &jobResult{state: "skipped"}
		}
	}
	if job.Strategy.Matrix == nil {
		result := &jobResult{}
		result.state, result.outputs = h.entry(name, job, s)
		return result
	}
	if earlier == nil {
		v, err := s.value(fmt.Sprint(job.Strategy.Matrix))
		if err != nil {
			h.t.Fatalf("%s: %v", name, err)
		}
		earlier = &jobResult{entries: h.entries(v)}
	}
	h.matrix(name, job, s, earlier)
	return earlier
}

// entries are those of a matrix, in random order.
func (h *hosted) entries(v any) []*entryResult {
	var list []*entryResult
	for _, one := range v.(map[string]any)["include"].([]any) {
		m := one.(map[string]any)
		if !h.explode {
			list = append(list, &entryResult{matrix: m})
			continue
		}
		for _, image := range strings.Fields(asText(m["images"])) {
			for _, on := range strings.Fields(asText(m["platforms"])) {
				leg := maps.Clone(m)
				leg["name"], leg["images"], leg["platforms"] = image+" "+on, image, on
				list = append(list, &entryResult{matrix: leg})
			}
		}
	}
	if len(list) == 0 {
		h.t.Fatal("a matrix without entries fails on GitHub")
	}
	h.rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// matrix runs in parallel those entries that have not succeeded yet.
func (h *hosted) matrix(name string, job workflowJob, s scope, r *jobResult) {
	var all sync.WaitGroup
	for _, e := range r.entries {
		if e.state == "success" {
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			own := maps.Clone(s)
			own["matrix"] = e.matrix
			e.ran++
			e.state, _ = h.entry(name+" "+asText(e.matrix["name"]), job, own)
		}()
	}
	all.Wait()
	r.state = "success"
	for _, e := range r.entries {
		if e.state != "success" {
			r.state = "failure"
		}
	}
}

// entry runs the steps of one job on a machine of its own.
func (h *hosted) entry(name string, job workflowJob, s scope) (state string, outputs map[string]string) {
	m, err := h.machine(name, job, s)
	if err == nil {
		err = m.steps()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(&h.log, "--- %s: %v\n%s", name, err, m.log.String())
	if err != nil {
		return "failure", nil
	}
	outputs = map[string]string{}
	for key, text := range job.Outputs {
		if outputs[key], err = m.scope.expand(text); err != nil {
			fmt.Fprintln(&h.log, err)
			return "failure", nil
		}
	}
	return "success", outputs
}

// machine is what one job runs on.
type machine struct {
	*hosted
	ctx   context.Context
	job   workflowJob
	scope scope
	dir   string // holds its home, its temporary files and work, the clone
	env   []string
	log   bytes.Buffer
}

func (h *hosted) machine(name string, job workflowJob, s scope) (*machine, error) {
	m := &machine{hosted: h, ctx: h.t.Context(), job: job, scope: maps.Clone(s)}
	if h.context != nil {
		m.ctx = h.context(name)
	}
	dir, err := os.MkdirTemp(h.t.TempDir(), "machine-")
	m.dir = dir
	m.scope["steps"] = map[string]any{}
	m.scope["env"] = map[string]string{}
	m.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"), "RUNNER_TEMP=" + filepath.Join(dir, "tmp"),
		"CI=true", "GITHUB_ACTIONS=true", "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1", "GOFLAGS=", "GOPROXY=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "tmp", "summary"),
	}, h.env...)
	for _, sub := range []string{"home", "tmp", "work"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	return m, err
}

func (m *machine) steps() error {
	own := m.scope["env"].(map[string]string)
	for _, vars := range []map[string]string{m.workflow.Env, m.job.Env} {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			v, err := m.scope.expand(vars[name])
			if err != nil {
				return err
			}
			own[name] = v
		}
	}
	if _, ok := own["REGISTRY"]; !ok {
		return errors.New("the workflow sets no REGISTRY")
	}
	own["REGISTRY"] = m.registry
	for i, step := range m.job.Steps {
		if err := m.step(i, step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (m *machine) step(i int, step workflowStep) error {
	if step.If != "" {
		if v, err := m.scope.value(step.If); err != nil || !truth(v) {
			return err
		}
	}
	action, _, _ := strings.Cut(step.Uses, "@")
	switch action {
	case "":
	case "actions/checkout":
		return m.checkOut()
	case "actions/setup-go": // it is there
		return nil
	default:
		return fmt.Errorf("no stand-in for %s", step.Uses)
	}
	script, err := m.scope.expand(step.Run)
	if err != nil {
		return err
	}
	file, output := filepath.Join(m.dir, fmt.Sprintf("step%d.sh", i)), filepath.Join(m.dir, fmt.Sprintf("output%d", i))
	if err := errors.Join(os.WriteFile(file, []byte(script), 0o644), os.WriteFile(output, nil, 0o644)); err != nil {
		return err
	}
	env := []string{"GITHUB_OUTPUT=" + output}
	for _, vars := range []map[string]string{m.scope["env"].(map[string]string), step.Env} {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			v, err := m.scope.expand(vars[name])
			if err != nil {
				return err
			}
			env = append(env, name+"="+v)
		}
	}
	if err := m.bash(env, "--noprofile", "--norc", "-eo", "pipefail", file); err != nil {
		return err
	}
	if step.ID != "" {
		outputs, err := readOutputs(output)
		m.scope["steps"].(map[string]any)[step.ID] = map[string]any{"outputs": outputs}
		return err
	}
	return nil
}

// checkOut clones as actions/checkout does with fetch-depth: 0.
func (m *machine) checkOut() error {
	ref := m.tag
	if ref == "" {
		ref = "main"
	}
	return m.bash([]string{"ORIGIN=" + m.origin, "REF=" + ref}, "-ec", `git clone -q "$ORIGIN" . && git -c advice.detachedHead=false checkout -q "$REF"`)
}

// bash runs in a process group, all of which ends at once with the job.
func (m *machine) bash(env []string, args ...string) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	cmd := exec.Command("bash", args...)
	cmd.Dir, cmd.Env = filepath.Join(m.dir, "work"), slices.Concat(m.env, env)
	cmd.Stdout, cmd.Stderr = &m.log, &m.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(m.ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	return cmd.Wait()
}

// readOutputs reads a GITHUB_OUTPUT file, strictly.
func readOutputs(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines) && string(data) != ""; i++ {
		name, value, ok := strings.Cut(lines[i], "=")
		if key, end, multi := strings.Cut(lines[i], "<<"); multi && (!ok || len(key) < len(name)) {
			to := slices.Index(lines[i+1:], end)
			if to < 0 {
				return nil, fmt.Errorf("output %s has no end", key)
			}
			outputs[key] = strings.Join(lines[i+1:i+1+to], "\n")
			i += to + 1
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%q is no output", lines[i])
		}
		outputs[name] = value
	}
	return outputs, nil
}
