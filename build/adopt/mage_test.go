package adopt

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestMagefilesAreThoseThatMageAloneBuilds(t *testing.T) {
	fsys := fstest.MapFS{
		"main.go":             {Data: []byte("package main\n\n//go:build mage\n\nfunc Image() {}\n")},
		"tools.go":            {Data: []byte("//go:build tools\n\npackage main\n\nfunc Tools() {}\n")},
		"magefile.go":         {Data: []byte("// Copyright\n\n//go:build mage\n// +build mage\n\npackage main\n\nfunc Image() {}\nfunc helper() {}\n")},
		"magefiles/x.go":      {Data: []byte("package main\n\nimport \"example.com/m/x\"\n\ntype T struct{}\n\nfunc (T) Method() {}\nfunc Deploy() {}\n")},
		"magefiles/go.mod":    {},
		"magefiles/bad.go":    {Data: []byte("package")},
		"magefiles/x_test.go": {Data: []byte("package main\n\nfunc Test() {}\n")},
	}
	m, err := ReadMagefiles(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Root, []string{"magefile.go"}) || !m.Dir || !m.OwnMod || m.Adopted || !m.Needs {
		t.Errorf("%+v", m)
	}
	if !slices.Equal(m.Targets, []string{"image", "deploy"}) || !slices.Equal(m.Imports, []string{"example.com/m/x"}) {
		t.Errorf("%+v", m)
	}
	data, err := Render(MageFile, Values{})
	if err != nil {
		t.Fatal(err)
	}
	m, err = ReadMagefiles(fstest.MapFS{"magefile.go": {Data: data}})
	if err != nil || !m.Adopted || m.Dir || m.OwnMod || m.Needs || len(m.Root) != 1 {
		t.Errorf("what archmage writes is not known again: %+v %v", m, err)
	}
	for mod, needs := range map[string]bool{"": true, "module m\n\nrequire " + Module + " v0.1.0\n": false} {
		m, err := ReadMagefiles(fstest.MapFS{"magefiles/x.go": {Data: data}, "go.mod": {Data: []byte(mod)}})
		if err != nil || m.Needs != needs || m.OwnMod || !m.Adopted {
			t.Errorf("%q: %+v %v", mod, m, err)
		}
	}
}
