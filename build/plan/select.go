package plan

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/console"
)

// SelectImages keeps the images that what names, by name or by directory, and
// returns the names that are none. An empty what keeps all.
func SelectImages(images []Image, what []string) (selected []Image, rest []string) {
	if len(what) == 0 {
		return images, nil
	}
	for _, word := range what {
		if !slices.ContainsFunc(images, func(i Image) bool { return i.named(word) }) {
			rest = append(rest, word)
		}
	}
	for _, img := range images {
		if slices.ContainsFunc(what, img.named) {
			selected = append(selected, img)
		}
	}
	return selected, rest
}

// SelectCommands does the same for commands.
func SelectCommands(commands []Command, what []string) (selected []Command, rest []string) {
	if len(what) == 0 {
		return commands, nil
	}
	for _, word := range what {
		if !slices.ContainsFunc(commands, func(c Command) bool { return c.named(word) }) {
			rest = append(rest, word)
		}
	}
	for _, c := range commands {
		if slices.ContainsFunc(what, c.named) {
			selected = append(selected, c)
		}
	}
	return selected, rest
}

// named accepts an image's name, its Dockerfile, and that one's directory
// unless several images can be in it.
func (i Image) named(word string) bool {
	word = clean(word)
	dir := path.Dir(i.Dockerfile)
	return word == i.Name || word == i.Dockerfile || word == dir && dir != "dockerfiles" && dir != "."
}

func (c Command) named(word string) bool {
	word = clean(word)
	return word == c.Name || word == c.Dir && c.Dir != "."
}

func clean(word string) string {
	return strings.TrimPrefix(path.Clean(filepath.ToSlash(word)), "./")
}

// Unknown is the error for words of WHAT that name nothing, with the nearest
// names that there are.
func Unknown(words []string, images []Image, commands []Command) error {
	var known []string
	for _, i := range images {
		known = append(known, i.Name)
	}
	for _, c := range commands {
		if !slices.Contains(known, c.Name) {
			known = append(known, c.Name)
		}
	}
	var errs []error
	for _, word := range words {
		hint := "there are: " + strings.Join(known, ", ")
		if len(known) == 0 {
			hint = "this repository has no images and no commands"
		}
		if near := console.Nearest(path.Base(clean(word)), known); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		errs = append(errs, usage("WHAT "+word, hint, "no image and no command of this name"))
	}
	return errors.Join(errs...)
}
