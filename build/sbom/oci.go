package sbom

import (
	"path"
	"strings"

	"github.com/package-url/packageurl-go"

	"github.com/archmage-go/archmage/build/platform"
)

// ociURL is an image's package URL: the name is the last part of its
// repository's, the version its digest (purl-spec, type oci).
func ociURL(name, repository, digest string, p platform.Platform) string {
	set := map[string]string{"arch": p.Arch}
	if p.Variant != "" {
		set["variant"] = p.Variant
	}
	if repository != "" {
		name, set["repository_url"] = path.Base(repository), repository
	}
	return packageurl.NewPackageURL(packageurl.TypeOCI, "", strings.ToLower(name), digest, packageurl.QualifiersFromMap(set), "").ToString()
}

// withoutTag is the repository of a reference.
func withoutTag(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if at := strings.LastIndex(ref, ":"); at > strings.LastIndex(ref, "/") {
		return ref[:at]
	}
	return ref
}
