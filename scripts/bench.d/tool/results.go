package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// where names what was measured: a path below raw/.
type where struct{ Subject, Scenario, Cell string }

// cell is the samples of each tool in one place, by metric, by round.
type cell struct {
	where
	Tools   []string // in the order of the first round
	samples map[string]map[string]map[int]float64
}

// Metrics: wall and cpu are seconds, rss bytes, requests of all legs, legs and
// bytes counts.
const (
	wall     = "wall"
	cpu      = "cpu"
	rss      = "rss"
	requests = "requests"
)

// readResults reads DIR/raw/SUBJECT/SCENARIO/CELL/TOOL.ROUND.KIND, in the order
// of DIR/order, which has a line CELL-PATH TOOL for each when first measured.
func readResults(dir string) ([]*cell, error) {
	text, err := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil {
		return nil, err
	}
	var cells []*cell
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		place, tool, _ := strings.Cut(line, "\t")
		parts := strings.Split(place, "/")
		if len(parts) != 3 {
			return nil, fmt.Errorf("read %s: %q is no place of a measurement", dir, line)
		}
		w := where{parts[0], parts[1], parts[2]}
		at := slices.IndexFunc(cells, func(c *cell) bool { return c.where == w })
		if at < 0 {
			at = len(cells)
			cells = append(cells, &cell{where: w, samples: map[string]map[string]map[int]float64{}})
		}
		if slices.Contains(cells[at].Tools, tool) {
			continue
		}
		cells[at].Tools = append(cells[at].Tools, tool)
		if err := cells[at].read(os.DirFS(filepath.Join(dir, "raw", filepath.FromSlash(place))), tool); err != nil {
			return nil, fmt.Errorf("read %s: %w", place, err)
		}
	}
	return cells, nil
}

func (c *cell) read(dir fs.FS, tool string) error {
	files, err := fs.Glob(dir, tool+".*.*")
	if err != nil {
		return err
	}
	for _, name := range files {
		parts := strings.Split(strings.TrimPrefix(name, tool+"."), ".")
		round, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) != 2 || parts[1] == "log" {
			continue
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		values, err := parse(parts[1], text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for metric, v := range values {
			c.add(tool, metric, round, v)
		}
	}
	return nil
}

func (c *cell) add(tool, metric string, round int, v float64) {
	if c.samples[tool] == nil {
		c.samples[tool] = map[string]map[int]float64{}
	}
	if c.samples[tool][metric] == nil {
		c.samples[tool][metric] = map[int]float64{}
	}
	c.samples[tool][metric][round] = v
}

var peak = regexp.MustCompile(`Maximum resident set size \(kbytes\): (\d+)`)

// parse reads what hyperfine (json) or time -v (time) wrote; any other kind is a
// metric's name, and its file holds a number.
func parse(kind string, text []byte) (map[string]float64, error) {
	switch kind {
	case "json":
		var report struct {
			Results []struct{ Median, User, System float64 }
		}
		if err := json.Unmarshal(text, &report); err != nil {
			return nil, fmt.Errorf("read a result of hyperfine: %w", err)
		}
		if len(report.Results) != 1 {
			return nil, fmt.Errorf("hyperfine measured %d commands, not one", len(report.Results))
		}
		r := report.Results[0]
		return map[string]float64{wall: r.Median, cpu: r.User + r.System}, nil
	case "time":
		found := peak.FindSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("not a result of time -v")
		}
		kb, err := strconv.ParseFloat(string(found[1]), 64)
		return map[string]float64{rss: kb * 1024}, err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return map[string]float64{kind: v}, err
}

// values are a tool's, in the order of rounds.
func (c *cell) values(tool, metric string) []float64 {
	var list []float64
	for _, round := range c.rounds(tool, metric) {
		list = append(list, c.samples[tool][metric][round])
	}
	return list
}

func (c *cell) rounds(tool, metric string) []int {
	var list []int
	for round := range c.samples[tool][metric] {
		list = append(list, round)
	}
	slices.Sort(list)
	return list
}

// ratios are archmage's by those of a peer, round by round, where both have one.
func (c *cell) ratios(peer, metric string) []float64 {
	var list []float64
	for _, round := range c.rounds(peer, metric) {
		own, ok := c.samples[subject][metric][round]
		if other := c.samples[peer][metric][round]; ok && other > 0 {
			list = append(list, own/other)
		}
	}
	return list
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
