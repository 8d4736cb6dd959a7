package console

import (
	"encoding/json"
	"math"
	"time"
)

// eventVersion is that of [event]; fields and states are only ever added.
const eventVersion = 1

// Subject is what an event is about. Of its fields those are set that apply.
type Subject struct {
	Image    string `json:"image,omitempty"`
	Command  string `json:"command,omitempty"`
	Platform string `json:"platform,omitempty"`
	Name     string `json:"name,omitempty"` // of anything else, in words
}

// String is the subject for people.
func (s Subject) String() string {
	text := s.Image + s.Command + s.Name
	if text != "" && s.Platform != "" {
		text += " "
	}
	return text + s.Platform
}

// event is a line of --progress json. docs/progress.md describes it to users.
type event struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	Verb    string    `json:"verb,omitempty"`
	Subject *Subject  `json:"subject,omitempty"`
	Phase   string    `json:"phase,omitempty"`
	State   string    `json:"state"`
	Engine  string    `json:"engine,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`
	Total   int64     `json:"total,omitempty"`
	Size    int64     `json:"size,omitempty"`
	Digest  string    `json:"digest,omitempty"`
	Path    string    `json:"path,omitempty"`
	Seconds float64   `json:"seconds,omitempty"`
	Message string    `json:"message,omitempty"`
	Error   string    `json:"error,omitempty"`
	Hint    string    `json:"hint,omitempty"`

	always bool // quiet leaves it
}

// The states of events that are not an [Outcome]'s.
const (
	stateStarted  = "started"
	stateProgress = "progress"
	stateOutput   = "output"
	stateDone     = "done"
	stateFailed   = "failed"
	stateNote     = "note"
	stateWarning  = "warning"
	stateError    = "error"
)

// write writes e on a line of its own. c.mu is held.
func (c *Console) write(e event) {
	e.Version, e.Time = eventVersion, c.now().UTC()
	e.Message = printable(e.Message)
	e.Seconds = math.Round(e.Seconds*1000) / 1000
	line, err := json.Marshal(e)
	if err != nil {
		return // it has neither channels nor functions
	}
	_, _ = c.err.Write(append(line, '\n'))
}
