package build

import (
	"context"
	"errors"
	"fmt"
)

// write makes the files that are new and adds to the others, then runs what only
// the go command can do. Before anything is written it is known that git could
// bring every file back.
func (a *adopter) write(ctx context.Context) error {
	var added []*rewritten
	var errs []error
	for _, c := range a.changes {
		if !c.exists {
			continue
		}
		added = append(added, &c.rewritten)
		if !a.Force {
			errs = append(errs, a.committed(ctx, "init --write", &c.rewritten))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	made, err := a.makeFiles()
	if err == nil {
		err = replaceAll(a.disk, added)
	}
	if err != nil {
		for _, file := range made {
			err = errors.Join(err, a.disk.Remove(file))
		}
		return err
	}
	for _, c := range a.changes {
		a.done("init", c.name, "written")
	}
	return a.runSteps(ctx)
}

// makeFiles makes the files that are new, and returns those it made.
func (a *adopter) makeFiles() (made []string, err error) {
	for _, c := range a.changes {
		if c.exists {
			continue
		}
		if err := a.disk.Create(c.path, c.new); err != nil {
			return made, fmt.Errorf("write %s: %w", c.name, err)
		}
		made = append(made, c.path)
	}
	return made, nil
}
