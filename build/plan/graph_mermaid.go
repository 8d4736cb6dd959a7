package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Mermaid draws the graph as a flowchart that GitHub shows in Markdown. Names of
// nodes are numbers behind their kind, so that nothing in a label can be syntax;
// one source of several images is one node.
func (g Graph) Mermaid(w io.Writer) error {
	m := mermaid{ids: map[string]string{}}
	for _, img := range g.Images {
		to := m.node("images", img.Name, img.Name+"\n"+img.Legs)
		for _, base := range img.Bases {
			m.edge(m.node("bases", base, base), to)
		}
		for _, c := range img.Copies {
			binary := m.node("binaries", c.Path, c.Path)
			m.edge(m.node("commands", c.Dir, c.Dir), binary)
			m.edge(binary, to)
		}
		if img.Source != "" {
			m.edge(m.node("commands", img.Source, img.Source), to)
		}
		all := strings.Join(img.Indexes, "\n")
		m.edge(to, m.node("indexes", all, all))
	}
	for _, dir := range g.Unused {
		m.node("commands", dir, dir)
	}
	_, err := io.WriteString(w, m.text())
	return err
}

// mermaid collects nodes, by the kind of what they stand for, and edges.
type mermaid struct {
	ids   map[string]string // kind and key → ID
	nodes [5][]string       // lines, by kind
	edges []string
}

// kinds are the subgraphs, in the order of the work.
func kinds() []string { return []string{"commands", "binaries", "bases", "images", "indexes"} }

// node returns the ID of what key stands for, which is made once.
func (m *mermaid) node(kind, key, label string) string {
	if id, known := m.ids[kind+"\n"+key]; known {
		return id
	}
	k := slices.Index(kinds(), kind)
	id := fmt.Sprintf("%s%d", kind, len(m.nodes[k])+1)
	m.ids[kind+"\n"+key] = id
	m.nodes[k] = append(m.nodes[k], fmt.Sprintf("    %s[\"%s\"]\n", id, escape(label)))
	return id
}

// edge draws an arrow once.
func (m *mermaid) edge(from, to string) {
	if line := fmt.Sprintf("  %s --> %s\n", from, to); !slices.Contains(m.edges, line) {
		m.edges = append(m.edges, line)
	}
}

func (m *mermaid) text() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for k, kind := range kinds() {
		if len(m.nodes[k]) > 0 {
			b.WriteString("  subgraph " + kind + "\n" + strings.Join(m.nodes[k], "") + "  end\n")
		}
	}
	return b.String() + strings.Join(m.edges, "")
}

// escape writes what could end a label, or be HTML or Markdown in it, as entities
// of Mermaid (mermaid.js.org, "Entity codes to escape characters").
func escape(label string) string {
	var b strings.Builder
	for _, r := range label {
		switch {
		case r == '\n':
			b.WriteString("<br>")
		case strings.ContainsRune("#\"<>&`*_\\$%;", r) || r < ' ':
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
