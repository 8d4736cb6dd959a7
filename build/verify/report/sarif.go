package report

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify"
)

// SARIF writes findings as a SARIF 2.1.0 log of one run, with every rule
// there is. version is archmage's, or "". Equal findings give equal bytes.
func SARIF(w io.Writer, findings []verify.Finding, version string) error {
	rules := sarifRules()
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "archmage", Version: version, InformationURI: "https://github.com/archmage-go/archmage", Rules: rules}
	for _, f := range findings {
		run.Results = append(run.Results, sarifOf(f, rules))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

// sarifRules lists our rules and BuildKit's, by name.
func sarifRules() []sarifRule {
	var list []sarifRule
	for _, r := range verify.Rules() {
		list = append(list, newSARIFRule(r.Name, r.Description, r.URL, r.Severity, !r.Pedantic))
	}
	for _, r := range dockerfile.LintRules() {
		list = append(list, newSARIFRule(r.Name, r.Description, r.URL, verify.Warning, !r.Experimental))
	}
	slices.SortFunc(list, func(a, b sarifRule) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func newSARIFRule(name, description, page string, level verify.Severity, enabled bool) sarifRule {
	r := sarifRule{ID: name, Name: name, ShortDescription: sarifText{description}, HelpURI: page}
	r.DefaultConfiguration.Enabled, r.DefaultConfiguration.Level = enabled, level
	return r
}

func sarifOf(f verify.Finding, rules []sarifRule) sarifResult {
	r := sarifResult{
		RuleID: f.Rule, Level: f.Severity, Message: sarifText{f.Message},
		RuleIndex:  slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == f.Rule }),
		Properties: sarifProperties{f.Image, f.Platforms, f.Fix},
	}
	var at sarifLocation
	at.PhysicalLocation.ArtifactLocation = sarifArtifact{URI: (&url.URL{Path: f.File}).String(), URIBaseID: "%SRCROOT%"}
	at.PhysicalLocation.Region = sarifRegion{f.Start.Line, f.Start.Column, f.End.Line, f.End.Column}
	r.Locations = []sarifLocation{at}
	return r
}

// The part of the format that is written. Names and order are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"` // what our columns count
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string    `json:"id"`
		Name                 string    `json:"name"`
		ShortDescription     sarifText `json:"shortDescription"`
		HelpURI              string    `json:"helpUri,omitempty"`
		DefaultConfiguration struct {
			Enabled bool            `json:"enabled"`
			Level   verify.Severity `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		RuleIndex  int             `json:"ruleIndex"` // -1 is a rule that is not listed
		Level      verify.Severity `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Properties sarifProperties `json:"properties"`
	}
	sarifLocation struct {
		PhysicalLocation struct {
			ArtifactLocation sarifArtifact `json:"artifactLocation"`
			Region           sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"` // relative, percent-encoded
		URIBaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"` // after the last character
	}
	sarifProperties struct {
		Image     string              `json:"image"`
		Platforms []platform.Platform `json:"platforms"`
		Fix       string              `json:"fix,omitempty"`
	}
)
