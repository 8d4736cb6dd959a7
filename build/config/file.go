package config

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/console"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

// applyFile reads archmage.yaml. Its keys are the flags' names, and `images`,
// which says per image what cannot be discovered. A missing file says nothing.
func (s *Settings) applyFile(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Errorf(FileName, "", "%v", errors.Unwrap(err))
	}
	file, err := yamlparser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0)
	if err != nil {
		return syntaxError(err)
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) > 1 {
		return at(docs[1].Body, bad("keep one document", "more than one document"))
	}
	if len(docs) == 0 {
		return nil
	}
	fields, err := mapping(docs[0].Body)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range fields {
		errs = append(errs, s.applyField(f))
	}
	return errors.Join(errs...)
}

func (s *Settings) applyField(f field) error {
	switch f.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		if f.key == "verify" { // a word is IMAGE_VERIFY
			return s.applyVerify(f.value)
		}
	}
	if f.key == "images" {
		return s.applyImages(f.value)
	}
	for _, v := range variables {
		if v.Flag() != f.key {
			continue
		}
		if v.noFile {
			return at(f.node, bad("use the flag or the environment", "%s is never read from a file", f.key))
		}
		value, err := flat(f.value)
		if err != nil || value == "" && v.Name != "IMAGE_PLATFORMS" {
			return err
		}
		return s.set(v, value, position(f.value))
	}
	return at(f.node, unknownKey(f.key, flags()))
}

func flags() []string {
	names := []string{"images"}
	for _, v := range variables {
		if !v.noFile {
			names = append(names, v.Flag())
		}
	}
	return names
}

func (s *Settings) applyImages(node ast.Node) error {
	if _, isNull := node.(*ast.NullNode); isNull {
		return nil
	}
	fields, err := mapping(node)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range fields {
		img := Image{Name: f.key, Line: f.node.GetToken().Position.Line}
		if err := CheckImageName(f.key); err != nil {
			errs = append(errs, at(f.node, err))
			continue
		}
		errs = append(errs, s.imageFields(&img, f.value))
		s.Images = append(s.Images, img)
	}
	slices.SortFunc(s.Images, func(a, b Image) int { return strings.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}

func (s *Settings) imageFields(img *Image, node ast.Node) error {
	if _, isNull := node.(*ast.NullNode); isNull {
		return nil
	}
	fields, err := mapping(node)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range fields {
		errs = append(errs, s.imageField(img, f))
	}
	return errors.Join(errs...)
}

var imageKeys = []string{"dockerfile", "context", "target", "build-args", "labels", "platforms", "tags", "timeout", "secrets", "ssh"}

func (s *Settings) imageField(img *Image, f field) (err error) {
	value := ""
	if !slices.Contains([]string{"build-args", "labels", "secrets", "ssh"}, f.key) {
		if value, err = flat(f.value); err != nil {
			return err
		}
	}
	switch f.key {
	case "dockerfile":
		img.Dockerfile, err = inside(value)
	case "context":
		img.Context, err = inside(value)
	case "target":
		img.Target = value
	case "build-args":
		img.BuildArgs, err = stringMap(f.value, checkBuildArg)
	case "labels":
		img.Labels, err = stringMap(f.value, nil)
	case "platforms":
		img.Platforms, err = images(s, value)
	case "tags":
		var tags Settings
		err = parseTags(&tags, value)
		img.Tags = tags.Tags
	case "secrets":
		img.Secrets, err = items(f.value)
	case "ssh":
		img.SSH, err = items(f.value)
	case "timeout":
		img.Timeout, err = time.ParseDuration(value)
		if err != nil || img.Timeout <= 0 {
			err = bad("e.g. 20m", "%q is no duration", value)
		}
	default:
		return at(f.node, unknownKey(f.key, imageKeys))
	}
	if err != nil {
		return at(f.value, err)
	}
	return nil
}

func unknownKey(key string, known []string) error {
	hint := "known keys: " + strings.Join(known, ", ")
	if near := console.Nearest(key, known); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return bad(hint, "unknown key %q", key)
}
