package sbom

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"github.com/archmage-go/archmage/build/audit"
)

// document is one that is being put together.
type document struct {
	img       Image
	system    system
	packages  []*spdx.Package
	relations []*spdx.Relationship
	has       map[common.ElementID]bool
	unread    int  // files that could not be read
	full      bool // there is more than a document may list
}

const (
	imageID = common.ElementID("Image")
	baseID  = common.ElementID("Base")
)

// image adds the image, and what it was built on.
func (d *document) image() {
	d.add(&spdx.Package{
		PackageName: d.img.Name, PackageSPDXIdentifier: imageID, PackageVersion: d.img.Digest,
		PackageChecksums: checksum(d.img.Digest), PrimaryPackagePurpose: "CONTAINER",
		PackageExternalReferences: purl(ociURL(d.img.Name, d.img.Repository, d.img.Digest, d.img.Platform)),
	})
	d.relate("DOCUMENT", common.TypeRelationshipDescribe, imageID)
	base := d.img.Base
	if base.Ref == "" || base.Digest == "" {
		return
	}
	repository := withoutTag(base.Ref)
	d.add(&spdx.Package{
		PackageName: base.Ref, PackageSPDXIdentifier: baseID, PackageVersion: base.Digest,
		PackageChecksums: checksum(base.Digest), PrimaryPackagePurpose: "CONTAINER",
		PackageExternalReferences: purl(ociURL(path.Base(repository), repository, base.Digest, d.img.Platform)),
	})
	d.relate(imageID, common.TypeRelationshipDescendantOf, baseID)
}

// program adds a program or library, with the modules that are linked into it.
func (d *document) program(f audit.File) {
	id := identify("Binary", f.Path)
	p := &spdx.Package{
		PackageName: path.Base(f.Path), PackageSPDXIdentifier: id, PackageFileName: f.Path,
		PrimaryPackagePurpose: "APPLICATION", PackageComment: describe(f),
	}
	if f.SHA256 != "" {
		p.PackageChecksums = checksum("sha256:" + f.SHA256)
	}
	if f.Problem != "" {
		d.unread++
	}
	if f.Go != nil {
		p.PackageVersion = released(f.Go.Main.Version)
	}
	d.add(p)
	d.relate(imageID, common.TypeRelationshipContains, id)
	if f.Go == nil {
		return
	}
	for _, m := range modulesOf(f.Go) {
		to := identify("Go", m.path+"@"+m.version, m.comment)
		d.add(&spdx.Package{
			PackageName: m.path, PackageSPDXIdentifier: to, PackageVersion: m.version, PackageComment: m.comment,
			PrimaryPackagePurpose: "LIBRARY", PackageExternalReferences: purl(golangURL(m)),
		})
		if m.main {
			d.relate(id, common.TypeRelationshipGeneratedFrom, to)
		} else {
			d.relate(id, common.TypeRelationshipStaticLink, to)
		}
	}
}

// describe says of a program what it is, and what is not known of it.
func describe(f audit.File) string {
	var text string
	switch {
	case f.Problem != "":
		text = "Not read (" + f.Problem + "): what it is made from is not known."
	case f.Go == nil:
		text = fmt.Sprintf("%s file without Go build info: what it is made from is not known.", f.Format)
	default:
		text = fmt.Sprintf("Go package %s.", f.Go.Path)
	}
	if f.Links > 0 {
		text += fmt.Sprintf(" It has %d more names in the image.", f.Links)
	}
	return text
}

// comment says of the whole document what is not known.
func (d *document) comment() string {
	var list []string
	if d.img.Contents.Partial {
		list = append(list, "A layer of the image could not be read: there may be more in it.")
	}
	if d.unread > 0 {
		list = append(list, fmt.Sprintf("Files that could not be read: %d.", d.unread))
	}
	return strings.Join(list, " ")
}

// add adds a package, each once. Nothing but the image's own files was looked
// at, so the license and origin of none are known.
func (d *document) add(p *spdx.Package) {
	if d.full = d.full || len(d.packages) >= most; d.full || d.has[p.PackageSPDXIdentifier] {
		return
	}
	d.has[p.PackageSPDXIdentifier] = true
	p.PackageDownloadLocation = "NOASSERTION"
	d.packages = append(d.packages, p)
}

func (d *document) relate(from common.ElementID, kind string, to common.ElementID) {
	if d.full = d.full || len(d.relations) >= mostRelations; d.full {
		return
	}
	d.relations = append(d.relations, &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: from}, Relationship: kind, RefB: common.DocElementID{ElementRefID: to},
	})
}

func (d *document) sort() {
	slices.SortFunc(d.packages, func(a, b *spdx.Package) int {
		return cmp.Compare(a.PackageSPDXIdentifier, b.PackageSPDXIdentifier)
	})
	slices.SortFunc(d.relations, compareRelations)
	d.relations = slices.CompactFunc(d.relations, func(a, b *spdx.Relationship) bool { return compareRelations(a, b) == 0 })
}

func compareRelations(a, b *spdx.Relationship) int {
	return cmp.Or(
		cmp.Compare(a.RefA.ElementRefID, b.RefA.ElementRefID),
		cmp.Compare(a.Relationship, b.Relationship),
		cmp.Compare(a.RefB.ElementRefID, b.RefB.ElementRefID),
	)
}

// identify makes an identifier of what an element is: readable at its front,
// and unique by a hash of all of it. Letters, digits, dots and dashes are
// allowed (SPDX 2.3, 7.2).
func identify(kind string, parts ...string) common.ElementID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, parts[0])
	name = strings.Trim(name[:min(len(name), 100)], "-")
	return common.ElementID(kind + "-" + name + "-" + hex.EncodeToString(sum[:8]))
}

// checksum is a digest (sha256:…) as SPDX has it; none of another algorithm.
func checksum(digest string) []common.Checksum {
	hex, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return nil
	}
	return []common.Checksum{{Algorithm: common.SHA256, Value: hex}}
}

func purl(locator string) []*spdx.PackageExternalReference {
	if locator == "" {
		return nil
	}
	return []*spdx.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator,
	}}
}

func dashed(digest string) string { return strings.Replace(digest, ":", "-", 1) }
