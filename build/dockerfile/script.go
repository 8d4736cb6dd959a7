package dockerfile

import (
	"bytes"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// script is a Dockerfile as BuildKit's parser reads it, with our File of it.
type script struct {
	file   *File
	text   text
	escape rune
	stages [][]instructions.Command // what follows each FROM, in step with File.Stages' instructions
}

// parse reads the text. Its errors are BuildKit's, as the front end would give
// them for the same text.
func parse(path string, t text) (*script, error) {
	tree, err := parser.Parse(bytes.NewReader(t.data))
	if err != nil {
		return nil, err
	}
	s := &script{file: &File{Path: path, Data: t.data, escape: byte(tree.EscapeToken)}, text: t, escape: tree.EscapeToken}
	silent := linter.New(&linter.Config{}) // without one, a check comment makes the parser panic
	for _, node := range tree.AST.Children {
		typed, err := instructions.ParseInstructionWithLinter(node, silent)
		if err == nil {
			err = s.add(node, typed)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *script) add(node *parser.Node, typed any) error {
	ins := s.instruction(node)
	if from, ok := typed.(*instructions.Stage); ok {
		ins.Stage++
		s.file.Stages = append(s.file.Stages, Stage{Name: from.Name, Base: from.BaseName, Platform: from.Platform, From: ins})
		s.stages = append(s.stages, nil)
		return nil
	}
	command := typed.(instructions.Command)
	fill(&ins, command)
	if ins.Stage >= 0 {
		stage := &s.file.Stages[ins.Stage]
		stage.Instructions = append(stage.Instructions, ins)
		s.stages[ins.Stage] = append(s.stages[ins.Stage], command)
		return nil
	}
	if _, ok := command.(*instructions.ArgCommand); !ok {
		_, err := instructions.CurrentStage(nil) // the front end's own words
		return parser.WithLocation(err, node.Location())
	}
	s.file.Global = append(s.file.Global, ins)
	return nil
}

func (s *script) instruction(node *parser.Node) Instruction {
	r := s.text.one(node.Location())
	return Instruction{
		Keyword: strings.ToUpper(node.Value),
		Text:    string(s.text.data[s.text.offset(r.Start):s.text.offset(r.End)]),
		Range:   r,
		Stage:   len(s.file.Stages) - 1,
		Skip:    commented(node.PrevComment),
	}
}

// fill adds what only some instructions have.
func fill(ins *Instruction, command instructions.Command) {
	switch c := command.(type) {
	case *instructions.ArgCommand:
		for _, a := range c.Args {
			ins.Args = append(ins.Args, Arg{Key: a.Key, Default: a.Value})
		}
	case *instructions.CopyCommand:
		ins.Sources, ins.Dest, ins.From = c.SourcePaths, c.DestPath, c.From
	case *instructions.AddCommand:
		ins.Sources, ins.Dest = c.SourcePaths, c.DestPath
	case *instructions.CmdCommand:
		ins.Shell = c.PrependShell
	case *instructions.EntrypointCommand:
		ins.Shell = c.PrependShell
	case *instructions.RunCommand:
		for _, m := range instructions.GetMounts(c) {
			ins.Mounts = append(ins.Mounts, m.From)
		}
	}
}

// trigger parses an ONBUILD trigger of stage i.
func (s *script) trigger(i int, text string) (Instruction, instructions.Command, error) {
	tree, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		return Instruction{}, nil, err
	}
	node := tree.AST.Children[0]
	command, err := instructions.ParseCommand(node)
	if err != nil {
		return Instruction{}, nil, err
	}
	ins := Instruction{
		Keyword: strings.ToUpper(node.Value), Text: text, OnBuild: true,
		Range: s.file.Stages[i].From.Range, Stage: i,
	}
	fill(&ins, command)
	return ins, command, nil
}

// prepend puts triggers right after their stage's FROM, where they run. One
// that does not parse has failed in the front end before.
func (s *script) prepend(i int, triggers []string) {
	var added []Instruction
	var commands []instructions.Command
	for _, text := range triggers {
		if ins, command, err := s.trigger(i, text); err == nil {
			added, commands = append(added, ins), append(commands, command)
		}
	}
	stage := &s.file.Stages[i]
	stage.Instructions = append(added, stage.Instructions...)
	s.stages[i] = append(commands, s.stages[i]...)
}

// triggers are the ONBUILD instructions that stage i itself has.
func (s *script) triggers(i int) []string {
	var list []string
	for _, command := range s.stages[i] {
		if c, ok := command.(*instructions.OnbuildCommand); ok {
			list = append(list, c.Expression)
		}
	}
	return list
}
