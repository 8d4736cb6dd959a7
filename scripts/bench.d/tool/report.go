package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	begin = "<!-- written by scripts/bench: begin -->\n"
	end   = "<!-- written by scripts/bench: end -->\n"
)

// reportVerb puts the results of a directory into a page, between its marks.
func reportVerb(args []string) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	page := flags.String("page", "", "page to change; prints the tables where empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir := flags.Arg(0)
	cells, err := readResults(dir)
	if err != nil {
		return err
	}
	machine, err := os.ReadFile(filepath.Join(dir, "machine"))
	if err != nil {
		return err
	}
	text := render(cells, string(machine))
	if *page == "" {
		_, err := os.Stdout.WriteString(text)
		return err
	}
	old, err := os.ReadFile(*page)
	if err != nil {
		return err
	}
	changed, err := replace(string(old), text)
	if err != nil {
		return fmt.Errorf("%s: %w", *page, err)
	}
	return os.WriteFile(*page, []byte(changed), 0o644)
}

// replace puts text between the marks of a page and keeps all around them.
func replace(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 || strings.Contains(after, begin) || strings.Contains(after, end) {
		return "", errors.New("the marks of scripts/bench must be there once, in order")
	}
	return before + begin + text + end + after, nil
}

func render(cells []*cell, machine string) string {
	var b strings.Builder
	b.WriteString("\n" + strings.TrimSpace(machine) + "\n\n")
	b.WriteString("## Targets\n\n| scenario | subject | against | | measured | at most | reached |\n|---|---|---|---|---|---|---|\n")
	for _, t := range targets {
		for _, c := range cells {
			if c.Scenario == t.Scenario && (t.Cell == "" || t.Cell == c.Cell) {
				b.WriteString(targetRow(t, c))
			}
		}
	}
	for _, s := range scenarios {
		b.WriteString(section(s.Name, "\n## "+s.Title+"\n\n"+s.Text+"\n\n", cells))
	}
	return b.String() + "\n"
}

func targetRow(t target, c *cell) string {
	list, against, unit := c.values(subject, t.Metric), "-", t.Metric
	if t.Peer != "" {
		list, against, unit = c.ratios(t.Peer, t.Metric), t.Peer, "ratio"
	}
	if len(list) == 0 {
		return ""
	}
	reached := "no"
	if median(list) <= t.Max {
		reached = "yes"
	}
	name := c.Scenario
	if c.Cell != "all" {
		name += ", " + c.Cell
	}
	return row(name, named(c.Subject), against, t.Metric, format(unit, median(list)), format(unit, t.Max), reached)
}

// section is a table of one scenario; "" where nothing of it was measured.
func section(scenario, head string, cells []*cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.Scenario != scenario {
			continue
		}
		for _, tool := range c.Tools {
			b.WriteString(toolRow(c, tool))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return head + "| subject | | tool | median | min–max | CPU | archmage is | more |\n|---|---|---|---|---|---|---|---|\n" + b.String()
}

func toolRow(c *cell, tool string) string {
	metric := wall
	if len(c.values(tool, wall)) == 0 {
		metric = rss
	}
	list := c.values(tool, metric)
	if len(list) == 0 {
		return ""
	}
	ratio := "-"
	if r := c.ratios(tool, metric); tool != subject && len(r) > 0 {
		ratio = format("ratio", median(r)) + " ×"
	}
	seconds := "-"
	if own := c.values(tool, cpu); len(own) > 0 {
		seconds = format(cpu, median(own))
	}
	return row(named(c.Subject), named(c.Cell), tool, format(metric, median(list)), spread(metric, list), seconds, ratio, more(c, tool))
}

// more is what was counted beside time.
func more(c *cell, tool string) string {
	var words []string
	for _, metric := range []string{requests, "requests-per-leg", "bytes", "connections"} {
		if list := c.values(tool, metric); len(list) > 0 {
			words = append(words, strings.ReplaceAll(metric, "-", " ")+" "+format(metric, median(list)))
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

// named leaves out the name of what is the only one.
func named(s string) string {
	if s == "all" {
		return "-"
	}
	return s
}
