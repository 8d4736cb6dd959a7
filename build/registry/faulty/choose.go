package faulty

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
)

// choose decides what happens to a request, by the seed, what it asks for and
// how often that was asked before.
func (p *Proxy) choose(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := key(r)
	n := p.seen[k]
	p.seen[k]++
	f := p.rolled(r, roll(p.plan.Seed, k, n))
	if p.first != None && p.fits(p.first, r) {
		f, p.first = p.first, None
	}
	if f == None {
		p.streak[k] = 0
		return None
	}
	p.renewed[k] = p.renewed[k] || f == Expired
	p.streak[k]++
	p.injected[f]++
	return f
}

func (p *Proxy) rolled(r *http.Request, dice uint64) Fault {
	if float64(uint32(dice))/(1<<32) >= p.plan.Rate || p.plan.Streak > 0 && p.streak[key(r)] >= p.plan.Streak {
		return None
	}
	list := p.plan.Faults
	if list == nil {
		list = Faults()
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f Fault) bool { return !p.fits(f, r) })
	if len(list) == 0 {
		return None
	}
	return list[(dice>>32)%uint64(len(list))]
}

// key is a request without what differs from run to run: uploads have addresses
// of their own.
func key(r *http.Request) string {
	path, _, found := strings.Cut(r.URL.Path, "/blobs/uploads/")
	if found {
		q := r.URL.Query()
		path += "/blobs/uploads/ " + q.Get("digest") + q.Get("mount")
	}
	return r.Method + " " + path
}

func roll(seed uint64, key string, n uint64) uint64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []uint64{seed, n})
	_, _ = io.WriteString(h, key)
	x := h.Sum64() // finished as splitmix64 is: neighbouring seeds share nothing
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
