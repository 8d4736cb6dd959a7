package sbom

import (
	"path"
	"slices"
	"strings"

	"github.com/package-url/packageurl-go"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"github.com/archmage-go/archmage/build/audit"
)

// system is what an os-release file says: ID and VERSION_ID (os-release(5)).
type system struct{ id, version string }

// systemOf reads /etc/os-release, or the one that it is a link to.
func systemOf(texts []audit.File) system {
	var s system
	for _, f := range texts { // by path, so that of /etc comes first
		if path.Base(f.Path) != "os-release" || s.id != "" {
			continue
		}
		for line := range strings.Lines(string(f.Text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch value = strings.Trim(value, `"'`); key {
			case "ID":
				s.id = strings.ToLower(value)
			case "VERSION_ID":
				s.version = value
			}
		}
	}
	return s
}

// installed adds what package managers say is installed.
func (d *document) installed() {
	for _, f := range d.img.Contents.Texts {
		switch base := path.Base(f.Path); {
		case base == "os-release":
		case f.Problem != "":
			d.unread++
		case base == "installed" && strings.Contains(f.Path, "/apk/"):
			for s := range stanzas(f.Text, "P", "V", "A", "o") {
				d.pack("apk", "alpine", osPackage{name: s["P"], version: s["V"], arch: s["A"], source: s["o"], list: f.Path})
			}
		default:
			for s := range stanzas(f.Text, "Package", "Version", "Architecture", "Status", "Source") {
				if status := strings.Fields(s["Status"]); len(status) == 3 && status[2] != "installed" {
					continue // removed, and its configuration left
				}
				d.pack("deb", "debian", osPackage{name: s["Package"], version: s["Version"], arch: s["Architecture"], source: s["Source"], list: f.Path})
			}
		}
	}
}

// osPackage is one that a package manager installed.
type osPackage struct {
	name, version, arch string
	source              string // what it was built from, where that has another name
	list                string // the file that says so
}

// pack adds a package of the system. vendor is whose it is where there is no
// os-release to say so.
func (d *document) pack(kind, vendor string, p osPackage) {
	if p.name == "" {
		return
	}
	set := map[string]string{}
	if p.arch != "" {
		set["arch"] = p.arch
	}
	if d.system.id != "" {
		vendor = d.system.id
		set["distro"] = strings.TrimSuffix(d.system.id+"-"+d.system.version, "-")
	}
	id := identify(strings.ToUpper(kind[:1])+kind[1:], p.name+"-"+p.version, p.arch)
	one := &spdx.Package{
		PackageName: p.name, PackageSPDXIdentifier: id, PackageVersion: p.version,
		PackageSourceInfo: "Listed in " + p.list,
		PackageExternalReferences: purl(packageurl.NewPackageURL(
			kind, vendor, p.name, p.version, packageurl.QualifiersFromMap(set), "",
		).ToString()),
	}
	if p.source != "" && p.source != p.name {
		one.PackageSourceInfo += ", built from " + p.source
	}
	d.add(one)
	d.relate(imageID, common.TypeRelationshipContains, id)
}

// stanzas yields the wanted fields of each paragraph of a dpkg or apk list.
// Longer values go on in lines that begin with a blank; no wanted one does.
func stanzas(text []byte, want ...string) func(yield func(map[string]string) bool) {
	return func(yield func(map[string]string) bool) {
		fields := map[string]string{}
		for line := range strings.Lines(string(text) + "\n\n") {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" {
				if len(fields) > 0 && !yield(fields) {
					return
				}
				fields = map[string]string{}
				continue
			}
			key, value, ok := strings.Cut(line, ":")
			if ok && slices.Contains(want, key) {
				fields[key] = strings.TrimSpace(value)
			}
		}
	}
}
