package parity

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Media types, as the OCI and Docker specifications name them.
const (
	ociIndex       = "application/vnd.oci.image.index.v1+json"
	ociManifest    = "application/vnd.oci.image.manifest.v1+json"
	ociConfig      = "application/vnd.oci.image.config.v1+json"
	ociLayer       = "application/vnd.oci.image.layer.v1.tar"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
	dockerLayer    = "application/vnd.docker.image.rootfs.diff.tar"
)

// baseSpec is a base image, written as lines:
//
//	platforms OS/ARCH…        default: the four that cases use
//	single                    the first platform's manifest, without an index
//	types docker              media types; default oci
//	config {…}                the inner config, JSON on one line
//	history full|none|short|long
//	layer gzip|zstd|plain     starts a layer; the entries that follow are its
//
// $PLATFORM in an entry is replaced, so that layers can differ by platform.
type baseSpec struct {
	platforms []string
	single    bool
	docker    bool
	config    string
	history   string
	layers    []layerSpec
}

type layerSpec struct {
	compression string
	lines       []string
}

func parseBase(text string) (baseSpec, error) {
	b := baseSpec{platforms: strings.Fields(defaultPlatforms), config: "{}", history: "full"}
	for _, line := range specLines(text) {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "platforms":
			b.platforms = strings.Fields(rest)
		case "single":
			b.single = true
		case "types":
			b.docker = rest == "docker"
		case "config":
			b.config = rest
		case "history":
			b.history = rest
		case "layer":
			b.layers = append(b.layers, layerSpec{compression: rest})
		default:
			if len(b.layers) == 0 {
				return b, fmt.Errorf("parse base: %q stands before the first layer", line)
			}
			last := &b.layers[len(b.layers)-1]
			last.lines = append(last.lines, line)
		}
	}
	return b, nil
}

type descriptor struct {
	MediaType string          `json:"mediaType"`
	Digest    string          `json:"digest"`
	Size      int             `json:"size"`
	Platform  json.RawMessage `json:"platform,omitempty"`
}

// artifact is an image or index, ready to push: blobs first, then manifests,
// the last of which gets the tag.
type artifact struct {
	blobs     [][]byte
	manifests []manifestFile
	diffIDs   []string // of all layers of all platforms
}

type manifestFile struct {
	mediaType string
	data      []byte
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// platformJSON is a platform as configs and indexes spell it.
func platformJSON(p string) map[string]any {
	parts := strings.Split(p, "/")
	m := map[string]any{"os": parts[0], "architecture": parts[1]}
	if len(parts) > 2 {
		m["variant"] = parts[2]
	}
	return m
}

// build makes the blobs and manifests of every platform.
func (b baseSpec) build() (artifact, error) {
	var a artifact
	var children []descriptor
	for _, p := range b.platforms {
		d, err := b.addImage(&a, p)
		if err != nil {
			return a, err
		}
		children = append(children, d)
		if b.single {
			return a, nil
		}
	}
	kind := ociIndex
	if b.docker {
		kind = dockerIndex
	}
	data, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": kind, "manifests": children})
	a.manifests = append(a.manifests, manifestFile{kind, data})
	return a, err
}

func (b baseSpec) addImage(a *artifact, platform string) (descriptor, error) {
	kind, configKind := ociManifest, ociConfig
	if b.docker {
		kind, configKind = dockerManifest, dockerConfig
	}
	layers, diffIDs := []descriptor{}, []string{}
	for _, l := range b.layers {
		d, diffID, err := b.addLayer(a, l, platform)
		if err != nil {
			return d, err
		}
		layers, diffIDs = append(layers, d), append(diffIDs, diffID)
	}
	a.diffIDs = append(a.diffIDs, diffIDs...)
	config := platformJSON(platform)
	config["created"] = specTime.Format(time.RFC3339)
	config["config"] = json.RawMessage(b.config)
	config["rootfs"] = map[string]any{"type": "layers", "diff_ids": diffIDs}
	if h := b.historyLines(); h != nil {
		config["history"] = h
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return descriptor{}, fmt.Errorf("encode config: %w", err)
	}
	a.blobs = append(a.blobs, raw)
	data, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind, "layers": layers,
		"config": descriptor{MediaType: configKind, Digest: digestOf(raw), Size: len(raw)},
	})
	if err != nil {
		return descriptor{}, err
	}
	a.manifests = append(a.manifests, manifestFile{kind, data})
	p, err := json.Marshal(platformJSON(platform))
	return descriptor{MediaType: kind, Digest: digestOf(data), Size: len(data), Platform: p}, err
}

func (b baseSpec) addLayer(a *artifact, l layerSpec, platform string) (descriptor, string, error) {
	lines := make([]string, len(l.lines))
	for i, line := range l.lines {
		lines[i] = strings.ReplaceAll(line, "$PLATFORM", platform)
	}
	plain, err := tarOf(lines)
	if err != nil {
		return descriptor{}, "", err
	}
	packed, err := compress(plain, l.compression)
	if err != nil {
		return descriptor{}, "", err
	}
	kind, suffix := ociLayer, map[string]string{"gzip": "+gzip", "zstd": "+zstd"}[l.compression]
	if b.docker {
		kind, suffix = dockerLayer, strings.Replace(suffix, "+", ".", 1)
	}
	a.blobs = append(a.blobs, packed)
	return descriptor{MediaType: kind + suffix, Digest: digestOf(packed), Size: len(packed)}, digestOf(plain), nil
}

// historyLines has a line for every layer and one without, unless the
// specification asks for a history that does not fit its layers.
func (b baseSpec) historyLines() []map[string]any {
	n := len(b.layers)
	switch b.history {
	case "none":
		return nil
	case "short":
		n--
	case "long":
		n++
	}
	var lines []map[string]any
	for i := range n {
		lines = append(lines, map[string]any{"created": specTime.Format(time.RFC3339), "created_by": fmt.Sprintf("layer %d", i+1)})
	}
	return append(lines, map[string]any{
		"created": specTime.Format(time.RFC3339), "created_by": "CMD none", "comment": "base", "empty_layer": true,
	})
}
