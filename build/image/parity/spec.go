package parity

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// specTime is the modification time of what names none: neither now, nor the
// epoch, nor the time that a context's files get.
var specTime = time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC)

// Entry is one file of a tree, written as one line:
//
//	KIND PATH [MODE] [UID:GID] [KEY=VALUE…]
//
// KIND is dir, file, sym, hard, fifo, sock, chr or blk. Paths and values that
// hold blanks or escapes are Go string literals. Keys: text, size (that many
// bytes made from the path), to (link target), dev (major:minor), cap (any
// value: a file capability), time (Unix seconds), and xattr.NAME. The same
// lines describe contexts, archives and the layers of bases.
type Entry struct {
	Kind         string
	Path         string
	Mode         int64 // permission bits with suid, sgid, sticky
	UID, GID     int
	Data         []byte
	To           string
	Major, Minor int64
	Xattrs       [][2]string // in the order written
	Time         time.Time
}

// fileCap is cap_net_bind_service=ep as the kernel stores it.
const fileCap = "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// parseEntry reads one line.
func parseEntry(line string) (Entry, error) {
	words, err := splitWords(line)
	if err != nil {
		return Entry{}, err
	}
	if len(words) < 2 {
		return Entry{}, fmt.Errorf("parse %q: want KIND PATH", line)
	}
	e := Entry{Kind: words[0], Path: words[1], Mode: 0o644, Time: specTime}
	switch e.Kind {
	case "dir":
		e.Mode = 0o755
	case "sym":
		e.Mode = 0o777
	case "file", "hard", "fifo", "sock", "chr", "blk":
	default:
		return Entry{}, fmt.Errorf("parse %q: unknown kind", line)
	}
	e.Data = []byte(e.Path + "\n")
	for _, w := range words[2:] {
		if err := e.set(w); err != nil {
			return Entry{}, fmt.Errorf("parse %q: %w", line, err)
		}
	}
	return e, nil
}

func (e *Entry) set(w string) (err error) {
	key, value, isKey := strings.Cut(w, "=")
	a, b, isPair := strings.Cut(w, ":")
	switch {
	case !isKey && isPair:
		if e.UID, err = strconv.Atoi(a); err == nil {
			e.GID, err = strconv.Atoi(b)
		}
	case !isKey:
		e.Mode, err = strconv.ParseInt(w, 8, 64)
	case key == "text":
		e.Data = []byte(value)
	case key == "size":
		var n int
		n, err = strconv.Atoi(value)
		e.Data = bytes.Repeat([]byte(e.Path+"\n"), n/(len(e.Path)+1)+1)[:n]
	case key == "to":
		e.To = value
	case key == "dev":
		_, err = fmt.Sscanf(value, "%d:%d", &e.Major, &e.Minor)
	case key == "cap":
		e.Xattrs = append(e.Xattrs, [2]string{"security.capability", fileCap})
	case key == "time":
		var sec int64
		sec, err = strconv.ParseInt(value, 10, 64)
		e.Time = time.Unix(sec, 0)
	case strings.HasPrefix(key, "xattr."):
		e.Xattrs = append(e.Xattrs, [2]string{strings.TrimPrefix(key, "xattr."), value})
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}

// splitWords splits at blanks outside of double quotes and undoes the quoting.
func splitWords(line string) ([]string, error) {
	var words []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		var word strings.Builder
		for rest != "" && rest[0] != ' ' {
			if rest[0] != '"' {
				word.WriteByte(rest[0])
				rest = rest[1:]
				continue
			}
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("parse %q: %w", line, err)
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("parse %q: %w", line, err)
			}
			word.WriteString(text)
			rest = rest[len(quoted):]
		}
		words = append(words, word.String())
	}
	return words, nil
}

// specLines are the lines of text that say something.
func specLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}
