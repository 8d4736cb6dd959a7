// Package sbom writes what an image is made of as an SPDX 2.3 document.
//
// A document is a function of the image's bytes and of what the caller says of
// the image, and of nothing else: it names no time but the image's, and has no
// random part. It holds no build settings and no path of the machine that built.
package sbom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/platform"
)

// MediaType is that of a document, registered for SPDX in JSON.
const MediaType = "application/spdx+json"

// Version changes with what a document says of one image, so that releases in
// between write the same bytes.
const Version = "1"

// creator is who wrote a document.
const creator = "archmage-" + Version

// Image is what a document is written of.
type Image struct {
	Name       string // of the image
	Repository string // REGISTRY/name, without tag; "" where it is in none
	Digest     string // sha256:… of its manifest
	Platform   platform.Platform
	Created    time.Time // as its config says
	Base       Base      // zero: scratch, or not known
	Contents   audit.Contents
}

// Base is the image that another was built on.
type Base struct {
	Ref    string // with tag
	Digest string // sha256:…
}

// Bounds on what a document lists. A package takes half a kilobyte, and what one
// has to do with another a tenth.
const (
	most          = 100_000
	mostRelations = 1_000_000
)

// Document is the SPDX document of an image, JSON with a newline at its end.
// The error says that there is too much in the image.
func Document(img Image) ([]byte, error) {
	d := &document{img: img, system: systemOf(img.Contents.Texts), has: map[common.ElementID]bool{}}
	d.image()
	for _, f := range img.Contents.Programs {
		d.program(f)
	}
	d.installed()
	if d.full {
		return nil, fmt.Errorf("there are more than %d packages in it, or %d uses of one by another", most, mostRelations)
	}
	d.sort()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(&spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: img.Name + "@" + img.Digest, DocumentNamespace: namespace(img),
		DocumentComment: d.comment(),
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: creator}},
			Created:  created(img.Created),
		},
		Packages: d.packages, Relationships: d.relations,
	})
	return out.Bytes(), err
}

// created is a time as SPDX has it (6.9). An image without one has the earliest
// that its format knows.
func created(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// namespace names the document, as an address at which nothing has to be (SPDX
// 2.3, 6.5): there is one document per leg of a repository.
func namespace(img Image) string {
	where := img.Repository
	if where == "" {
		where = img.Name
	}
	return "https://spdx.org/spdxdocs/archmage/" + where + "/" + dashed(img.Digest)
}
