package audit

import (
	"debug/buildinfo"
	"io"
	"maps"
	"runtime/debug"
	"slices"
)

// goInfo compares what the go command recorded in two programs: mostly it says
// why they differ.
func (d *differ) goInfo(in, name string, a, b io.ReaderAt) {
	if a == nil || b == nil {
		return
	}
	x, errA := buildinfo.Read(a)
	y, errB := buildinfo.Read(b)
	if errA != nil || errB != nil {
		return
	}
	before := d.found()
	inA, inB := recorded(x), recorded(y)
	keys := slices.Concat(slices.Collect(maps.Keys(inA)), slices.Collect(maps.Keys(inB)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if inA[key] != inB[key] {
			d.add(in, name, "go "+key, inA[key], inB[key])
		}
	}
	if d.found() == before {
		d.add(in, name, "go build info", "the same; with -trimpath it does not tell link flags", "")
	}
}

// recorded is a program's build info, by what each line of it is about.
func recorded(info *debug.BuildInfo) map[string]string {
	m := map[string]string{"version": info.GoVersion, "path": info.Path}
	for _, s := range info.Settings {
		m["build "+s.Key] = s.Value
	}
	for _, mod := range append([]*debug.Module{&info.Main}, info.Deps...) {
		text := mod.Version + " " + mod.Sum
		if mod.Replace != nil {
			text += " => " + mod.Replace.Path + " " + mod.Replace.Version + " " + mod.Replace.Sum
		}
		m["module "+mod.Path] = text
	}
	return m
}
