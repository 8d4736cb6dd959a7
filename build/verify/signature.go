package verify

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// sameEverywhere reports whether the graph of a step is the same on all
// platforms.
func sameEverywhere(group []*step) bool {
	want := signature(group[0].r, group[0].op)
	return !slices.ContainsFunc(group[1:], func(st *step) bool { return signature(st.r, st.op) != want })
}

// signature is equal for operations that do the same to equal inputs. Which
// place they have among others, and in the file, does not count.
func signature(r *dockerfile.Recipe, op int) uint64 {
	memo := map[int]uint64{dockerfile.Scratch: 0}
	var of func(int) uint64
	of = func(i int) uint64 {
		if sum, ok := memo[i]; ok {
			return sum
		}
		h := fnv.New64a()
		alone, inputs := detached(r.Ops[i])
		for _, in := range inputs {
			_, _ = fmt.Fprintf(h, "%x ", of(in))
		}
		data, _ := json.Marshal(alone) // data alone always can be
		_, _ = h.Write(data)
		memo[i] = h.Sum64()
		return memo[i]
	}
	return of(op)
}

// detached is an operation without its place, and what it works on, in the
// order in which it names that.
func detached(o dockerfile.Op) (alone dockerfile.Op, inputs []int) {
	if o.Kind == dockerfile.KindMerge {
		inputs = o.Inputs
	}
	o.Ranges, o.Name, o.Inputs = nil, "", nil
	if o.File != nil {
		inputs = append(inputs, o.File.Parent)
		actions := slices.Clone(o.File.Actions)
		for k, a := range actions {
			if a.Copy != nil {
				inputs = append(inputs, a.Copy.From)
				c := *a.Copy
				c.From, c.Owner = 0, nil
				actions[k].Copy = &c
			}
		}
		o.File = &dockerfile.FileOp{Actions: actions}
	}
	if o.Run != nil {
		run := *o.Run
		inputs = append(inputs, run.Parent)
		run.Parent, run.Mounts = 0, slices.Clone(run.Mounts)
		for k := range run.Mounts {
			inputs = append(inputs, run.Mounts[k].From)
			run.Mounts[k].From = 0
		}
		o.Run = &run
	}
	return o, inputs
}
