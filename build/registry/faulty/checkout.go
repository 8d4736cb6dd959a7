package faulty

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Images are those of a [Checkout], and Platforms what they are for.
var (
	Images    = []string{"app", "job"}
	Platforms = []string{"amd64", "arm64"}
)

// Checkout writes a repository into dir that has nothing to compile and nothing
// to run, so that publishing it is registry traffic and little else: two images
// with one layer of a kind in common. Another seed is another release of it.
func Checkout(dir string, seed byte) error {
	files := map[string]string{
		"dockerfiles/app.Dockerfile": "FROM scratch\nCOPY data/shared /data/\nCOPY data/app /data/\nENTRYPOINT [\"/data/app\"]\n",
		"dockerfiles/job.Dockerfile": "FROM scratch\nARG TARGETARCH\nCOPY data/shared /data/\nCOPY data/job-${TARGETARCH} /data/job\nENTRYPOINT [\"/data/job\"]\n",
		"data/shared":                noise(1, 200<<10),
		"data/app":                   noise(10+seed, 200<<10),
		"data/job-amd64":             noise(20+seed, 150<<10),
		"data/job-arm64":             noise(30+seed, 150<<10),
	}
	var errs []error
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		errs = append(errs, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755))
	}
	return errors.Join(errs...)
}

// noise is n bytes that do not compress, the same for the same seed.
func noise(seed byte, n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}
