package build

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/archmage-go/archmage/build/files"
)

// replaceAll gives files their new content. Each is replaced at once, with its
// mode; none is before the new content of all is on the disk.
func replaceAll(disk files.Disk, list []*rewritten) (err error) {
	if disk.DryRun() {
		for _, file := range list {
			err = errors.Join(err, disk.Write(file.path, file.new))
		}
		return err
	}
	temps := make([]string, len(list))
	defer func() {
		for _, temp := range temps {
			if temp != "" {
				_ = os.Remove(temp) // it is gone where all went well
			}
		}
	}()
	for i, file := range list {
		if temps[i], err = file.prepare(); err != nil {
			return err
		}
	}
	for i, file := range list {
		if err := os.Rename(temps[i], file.path); err != nil {
			return fmt.Errorf("write %s: %w", file.name, err)
		}
		temps[i] = ""
	}
	return nil
}

// prepare writes the new content beside the file.
func (r *rewritten) prepare() (temp string, err error) {
	now, err := os.ReadFile(r.path)
	if err == nil && !bytes.Equal(now, r.old) {
		err = errors.New("somebody else has changed it meanwhile")
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", r.name, err)
	}
	info, err := os.Stat(r.path)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(r.path), ".archmage-fix-")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", r.name, err)
	}
	_, err = f.Write(r.new)
	if err = errors.Join(err, f.Chmod(info.Mode()), f.Close()); err != nil {
		err = fmt.Errorf("write %s: %w", r.name, err)
	}
	return f.Name(), err
}
