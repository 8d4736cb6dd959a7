package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	oracle "github.com/tonistiigi/fsutil/copy"
)

// needRoot skips what compares with real files of many owners. Nothing else
// covers all of it, so it is loud.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: comparing with BuildKit's own copy needs root")
	}
}

// toDisk writes a tree below dir, which must be empty.
func toDisk(t testing.TB, tree Tree, dir string) {
	t.Helper()
	first := map[*Node]string{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	must(tree.Walk("/", func(p string, n *Node) error {
		at := filepath.Join(dir, p)
		if was := first[n]; was != "" {
			return os.Link(was, at)
		}
		switch n.Mode.Type() {
		case fs.ModeDir:
			dirs = append(dirs, p)
			if p != "/" {
				must(os.Mkdir(at, 0o700))
			}
		case fs.ModeSymlink:
			must(os.Symlink(n.Link, at))
		case 0:
			must(os.WriteFile(at, []byte(readAll(t, n)), 0o600))
		case fs.ModeNamedPipe:
			must(syscall.Mkfifo(at, 0o600))
		}
		if !n.IsDir() {
			first[n] = at
		}
		must(os.Lchown(at, n.UID, n.GID))
		if !n.IsLink() {
			must(os.Chmod(at, n.Mode))
		}
		if n.Cap != nil {
			must(syscall.Setxattr(at, "security.capability", n.Cap, 0))
		}
		must(oracle.Utimes(at, &n.ModTime))
		return nil
	}))
	slices.Reverse(dirs)
	for _, p := range dirs {
		n, err := tree.Lstat(p)
		must(err)
		must(oracle.Utimes(filepath.Join(dir, p), &n.ModTime))
	}
}

// fromDisk lists what is below dir in listing's form. A time after since, which
// no tree here has, is left out.
func fromDisk(t testing.TB, dir string, since time.Time) []string {
	t.Helper()
	e := Tree{}.Edit()
	seen := map[uint64]*Node{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		n := &Node{Mode: info.Mode(), UID: int(st.Uid), GID: int(st.Gid), ModTime: info.ModTime()}
		if n.ModTime.After(since) {
			n.ModTime = time.Time{}
		}
		if c := make([]byte, 64); !n.IsLink() {
			if size, err := syscall.Getxattr(p, "security.capability", c); err == nil {
				n.Cap = c[:size]
			}
		}
		switch n.Mode.Type() {
		case fs.ModeSymlink:
			if n.Link, err = os.Readlink(p); err != nil {
				return err
			}
		case 0:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			n.Size, n.Data = int64(len(data)), Bytes(data)
		case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
			n.Major, n.Minor = int64(st.Rdev>>8), int64(st.Rdev&0xff)
		}
		at := "/" + strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
		if at == "/" {
			root, err := e.Change("/")
			root.like(n)
			return err
		}
		if was := seen[st.Ino]; was != nil && !n.IsDir() {
			return e.Put(at, was)
		}
		seen[st.Ino] = n
		return e.Put(at, n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return listing(t, e.Tree())
}

// docopy is BuildKit's own operation (solver/llbsolver/file), less unpacking.
func docopy(src, dst string, c CopySpec) error {
	opt := func(ci *oracle.CopyInfo) {
		ci.IncludePatterns, ci.ExcludePatterns = c.Include, c.Exclude
		ci.CopyDirContents, ci.FollowLinks = c.DirContents, c.FollowSymlink
		ci.AlwaysReplaceExistingDestPaths = c.AlwaysReplace
		ci.XAttrErrorHandler = func(_, _, _ string, err error) error { return err }
		if c.Owner != nil {
			ci.Chown = func(*oracle.User) (*oracle.User, error) {
				return &oracle.User{UID: c.Owner.UID, GID: c.Owner.GID}, nil
			}
		} else {
			ci.Chown = func(old *oracle.User) (*oracle.User, error) { return old, nil }
		}
		var mode int
		if n, _ := fmt.Sscanf(c.Mode, "%o", &mode); n == 1 {
			ci.Mode = &mode
		} else {
			ci.ModeStr = c.Mode
		}
		if !c.Time.IsZero() {
			ci.Utime = &c.Time
		}
	}
	from := []string{cleanSlash(c.Src)}
	if c.Wildcard {
		var err error
		if from, err = oracle.ResolveWildcards(src, from[0], c.FollowSymlink); err != nil {
			return err
		}
		if len(from) == 0 && !c.AllowEmptyWildcard {
			return errors.New("not found")
		}
	}
	for _, s := range from {
		if err := oracle.Copy(context.Background(), src, s, dst, cleanSlash(c.Dest), opt); err != nil {
			return err
		}
	}
	return nil
}

// TestCopyEqualsFsutil lets fsutil itself copy random trees on a real file
// system. SEED repeats one case.
func TestCopyEqualsFsutil(t *testing.T) {
	needRoot(t)
	defer syscall.Umask(syscall.Umask(0)) // as buildkitd
	oracle.UmaskIsZero = true
	defer func() { oracle.UmaskIsZero = false }()

	rounds, failed := 800, 0
	if testing.Short() {
		rounds = 100
	}
	copied := 0
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		src, dst := randomTree(t, r, true), randomTree(t, r, false)
		c := randomCopy(r)
		ok, diff := compareCopy(t, src, dst, c)
		if ok {
			copied++
		}
		if diff == "" {
			continue
		}
		t.Errorf("seed %d: %+v owner %v\nsource\n\t%s\ndestination\n\t%s\n%s", seed, c, c.Owner,
			strings.Join(listing(t, src), "\n\t"), strings.Join(listing(t, dst), "\n\t"), diff)
		if failed++; failed > 3 {
			t.FailNow()
		}
	}
	if copied < rounds/4 {
		t.Errorf("only %d of %d cases copied anything", copied, rounds)
	}
}

func compareCopy(t *testing.T, src, dst Tree, c CopySpec) (ok bool, diff string) {
	dir := t.TempDir()
	defer os.RemoveAll(dir) // many rounds: not all at the end
	from, to := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	for _, d := range []string{from, to} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	toDisk(t, src, from)
	toDisk(t, dst, to)
	since := time.Unix(1e9, 0)

	wantErr := docopy(from, to, c)
	e := dst.Edit()
	err := Copy(t.Context(), e, src, c)
	if err == nil && wantErr != nil && strings.Contains(wantErr.Error(), "dst") && errors.Is(wantErr, syscall.ELOOP) {
		return false, "" // a loop where nothing is taken; fsutil looks there through the host's links
	}
	if (err != nil) != (wantErr != nil) {
		return false, fmt.Sprintf("error %v, want %v", err, wantErr)
	}
	if err != nil {
		return false, ""
	}
	got, want := listing(t, e.Tree()), fromDisk(t, to, since)
	if slices.EqualFunc(got, want, sameLine) {
		return true, ""
	}
	return true, fmt.Sprintf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}

// sameLine compares lines of listing. A directory in which something was made
// just now has that time on disk, and the one that it had in the tree.
func sameLine(got, want string) bool {
	if strings.Contains(want, "@") || strings.Contains(want, "^") {
		return got == want
	}
	name, rest, _ := strings.Cut(got, " ")
	fields := slices.DeleteFunc(strings.Fields(rest), func(f string) bool { return f[0] == '@' })
	return strings.Join(append([]string{name}, fields...), " ") == want
}

var names = []string{"qa", "qb", "qc"}

// randomTree has few names, so that the trees of a case meet often. Links of a
// destination do not lead out of it: fsutil looks through some with the host's
// eyes.
func randomTree(t testing.TB, r *rand.Rand, out bool) Tree {
	t.Helper()
	var lines []string
	modes := []string{"", " 0700", " 02755", " 04711", " 0600"}
	owners := []string{"", " 3:4", " 5:6"}
	used := map[string]bool{} // files: nothing goes below
	files := []string{}
	attr := func() string {
		return modes[r.IntN(len(modes))] + owners[r.IntN(len(owners))] + fmt.Sprintf(" @%d", 1+r.IntN(9))
	}
	lines = append(lines, "/ 0711 @5")
	for range r.IntN(9) {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		p := strings.Join(parts, "/")
		blocked := false
		for d := p; d != "."; d = path.Dir(d) {
			blocked = blocked || used[d]
		}
		for u := range used {
			blocked = blocked || strings.HasPrefix(u, p+"/")
		}
		if blocked {
			continue
		}
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if !slices.Contains(lines, d) && !hasLine(lines, d+"/") {
				lines = append(lines, d+"/"+attr())
			}
		}
		switch k := r.IntN(10); {
		case k < 4:
			cap := ""
			if r.IntN(5) == 0 {
				cap = " +cap"
			}
			lines = append(lines, p+attr()+cap+fmt.Sprintf(" =%d", r.IntN(100)))
			files = append(files, p)
		case k < 6:
			up := []string{"", "./", "../", "../../"}[r.IntN(4)]
			if depth := strings.Count(p, "/"); !out && strings.Count(up, "../") > depth {
				up = ""
			}
			lines = append(lines, p+fmt.Sprintf("%s @%d ->%s%s", owners[r.IntN(3)], 1+r.IntN(9), up, names[r.IntN(3)]))
		case k < 7 && len(files) > 0:
			lines = append(lines, p+" ^"+files[r.IntN(len(files))])
		case k < 8:
			lines = append(lines, p+attr()+" |fifo")
		default:
			if !hasLine(lines, p+"/") {
				lines = append(lines, p+"/"+attr())
			}
			continue
		}
		used[p] = true
	}
	// Parents first.
	slices.SortStableFunc(lines, func(a, b string) int {
		return strings.Count(strings.Fields(a)[0], "/") - strings.Count(strings.Fields(b)[0], "/")
	})
	slices.SortStableFunc(lines, func(a, b string) int { // links to files last
		return strings.Count(a, "^") - strings.Count(b, "^")
	})
	return plant(t, lines...)
}

func hasLine(lines []string, name string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") })
}

func randomCopy(r *rand.Rand) CopySpec {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	some := func() string {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, pick("qa", "qb", "qc", "qa", "qb", "q*", "*"))
		}
		return strings.Join(parts, "/")
	}
	c := CopySpec{
		Src:           pick("", "/", "/", "/qa", "/qb", "/qa/qb", "/qc/qa", "/q*", "/qa/*", "/*/qb", "/qb/", "/qa/.", "/qa/../qb"),
		Dest:          pick("/", "/qa", "/qb/", "/qa/qc", "/qn/qm", "/qn/", "/qb/.", "/qc/qb/qa/qn", "/qa/../qc", ""),
		FollowSymlink: r.IntN(4) > 0, DirContents: r.IntN(4) > 0, CreateDestPath: true,
		Wildcard: r.IntN(3) > 0, AllowEmptyWildcard: r.IntN(2) > 0,
		Mode:    pick("", "", "", "700", "4755", "02750", "u+x,go-w", "a=rX", "g+s"),
		Unkeyed: true,
	}
	if r.IntN(3) == 0 {
		c.Owner = &Owner{7, 8}
	}
	if r.IntN(6) == 0 {
		c.Time = time.Unix(77, 0)
	}
	if r.IntN(8) == 0 && clean(c.Dest) != "/" { // it would try to replace the root
		c.AlwaysReplace = true
	}
	for range r.IntN(5) / 2 {
		c.Include = append(c.Include, pick("", "", "!")+some())
	}
	for range r.IntN(5) / 2 {
		c.Exclude = append(c.Exclude, pick("", "", "!")+some())
	}
	return c
}
