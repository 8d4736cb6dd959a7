package build

import (
	"os"
	"path"

	"github.com/archmage-go/archmage/build/publish"
)

// receiptsDir is the directory in IMAGE_OUT that holds a file per leg that was
// pushed or written, so that the directories of several machines can be copied
// together.
const receiptsDir = "legs"

func (p *Project) receiptsPath() string { return p.path(path.Join(p.Out, receiptsDir)) }

// received maps name:tag to the digest that its receipt has. Two receipts of one
// leg that disagree are an error.
func (p *Project) received() (map[string]string, error) {
	list, err := publish.Receipts(p.receiptsPath())
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, r := range list {
		key := r.Name + ":" + r.Tag
		if other, ok := digests[key]; ok && other != r.Digest {
			return nil, Usage("remove the one that is out of date", "%s: two receipts of %s: %s and %s", path.Join(p.Out, receiptsDir), key, other, r.Digest)
		}
		digests[key] = r.Digest
	}
	return digests, nil
}

// onlyReceipts reports whether a directory holds receipts and nothing else, as
// one does that was filled by copying.
func onlyReceipts(dir string) bool {
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	list, err := publish.Receipts(dir)
	return err == nil && len(list) == len(files)
}
