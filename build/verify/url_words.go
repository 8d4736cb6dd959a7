package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

var (
	address = regexp.MustCompile(`^(https?|ftp)://`)

	// elsewhere are parts of names of what runs on other machines than those it
	// is for, or on all.
	elsewhere = regexp.MustCompile(`(?i)qemu|cross|eabi|noarch|binfmt`)
)

// foreignURL are the architectures that an address names, if none is r's.
func foreignURL(text string, r *dockerfile.Recipe) []archWord {
	words := urlWords(text)
	if !foreign(words, r.Platform) {
		return nil
	}
	return words
}

// urlWords are the architectures that the path of an address names, as words
// that are hardly anything else.
func urlWords(text string) []archWord {
	if !address.MatchString(text) || elsewhere.MatchString(text) {
		return nil
	}
	_, rest, _ := strings.Cut(text, "://")
	slash := strings.Index(rest, "/")
	if slash < 0 {
		return nil
	}
	host := len(text) - len(rest) + slash
	end := len(text)
	if i := strings.IndexAny(text, "?#"); i > host {
		end = i
	}
	file := text[host:end]
	if page(file) {
		return nil
	}
	lower := strings.ToLower(file)
	var list []archWord
	for _, w := range named(file) {
		word := lower[w.start:w.end]
		if (word == "386" || word == "arm" || word == "x86" || word == "mips") && !strings.Contains(lower, "linux") {
			continue
		}
		w.start, w.end = w.start+host, w.end+host
		list = append(list, w)
	}
	return list
}

// page reports whether the last part of a path is a document.
func page(file string) bool {
	return slices.Contains([]string{".md", ".html", ".txt", ".json", ".yaml", ".yml", ".pem", ".key", ".gpg", ".list", ".repo"}, strings.ToLower(path.Ext(file)))
}
