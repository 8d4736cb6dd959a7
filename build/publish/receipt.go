package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/platform"
)

// ReceiptVersion is the version of a receipt's JSON form; fields are only ever
// added to it.
const ReceiptVersion = 1

// Receipt is a leg that is published. It holds no time and nothing of the
// machine, so equal legs give equal receipts.
type Receipt struct {
	Version   int               `json:"version"` // [ReceiptVersion]
	Image     string            `json:"image"`
	Name      string            `json:"name"` // of the repository
	Platform  platform.Platform `json:"platform"`
	Tag       string            `json:"tag"`
	Digest    string            `json:"digest"` // that the tag names
	MediaType string            `json:"mediaType"`
	Size      int64             `json:"size"` // bytes of config and layers, compressed
	Revision  string            `json:"revision,omitempty"`
	Engine    string            `json:"engine,omitempty"`
	State     State             `json:"state"`
}

// String is the reference as name:tag@digest.
func (r Receipt) String() string { return r.Name + ":" + r.Tag + "@" + r.Digest }

// longest part of a file's name that is for people: most file systems take 255
// bytes.
const longest = 200

// FileName is what the receipt is called in any directory. It begins with what
// people look for; the end, a hash of what the leg is called, keeps two legs
// apart that would be spelt alike. A leg that is published again has the same.
func (r Receipt) FileName() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Name, r.Tag, r.Platform.String()}, "\n")))
	readable := fmt.Sprintf("%s-%s-%s", r.Image, strings.ReplaceAll(r.Platform.String(), "/", "-"), r.Tag)
	return readable[:min(len(readable), longest)] + "-" + hex.EncodeToString(sum[:4]) + ".json"
}

// Save writes the receipt into dir, which is made where it is not there. A
// reader sees all of it, or what was there before.
func (r Receipt) Save(disk files.Disk, dir string) error {
	r.Version = ReceiptVersion
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	disk.Sweep(dir)
	return disk.Replace(filepath.Join(dir, r.FileName()), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// Receipts reads those in dir, by file name; none where dir is not there. Other
// files are passed over, but a JSON file that is no receipt is an error: one
// that was cut short would otherwise go unnoticed. index.json is that of an
// image layout.
func Receipts(dir string) ([]Receipt, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Receipt
	var errs []error
	for _, f := range entries {
		if f.IsDir() || filepath.Ext(f.Name()) != ".json" || f.Name() == "index.json" {
			continue
		}
		r, err := readReceipt(filepath.Join(dir, f.Name()))
		if err != nil {
			errs = append(errs, &receiptError{filepath.Join(dir, f.Name()), err})
			continue
		}
		list = append(list, r)
	}
	return list, errors.Join(errs...)
}

func readReceipt(file string) (Receipt, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&r); err != nil {
		return r, err
	}
	switch {
	case r.Version > ReceiptVersion:
		return r, fmt.Errorf("version %d was written by a newer archmage", r.Version)
	case r.Version < 1 || r.Name == "" || r.Tag == "" || r.Digest == "":
		return r, errors.New("it is no receipt")
	}
	return r, nil
}

type receiptError struct {
	file string
	err  error
}

func (e *receiptError) Error() string { return "read receipt " + e.file + ": " + e.err.Error() }
func (e *receiptError) Unwrap() error { return e.err }

// Hint is the line to show below the error.
func (e *receiptError) Hint() string {
	return "remove it: receipts are looked at where they are, and not needed"
}
