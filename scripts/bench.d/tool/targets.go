package main

// subject is the tool that everything is compared with.
const subject = "archmage"

// target is a bound: of the ratio to a peer, or of archmage's own value where
// there is no peer.
type target struct {
	Scenario, Cell string // an empty cell is any
	Peer, Metric   string
	Max            float64
}

// targets are what archmage is to reach.
var targets = []target{
	{"cold", "", "go-in-turn", wall, 0.80},
	{"cold", "", "go-in-turn", cpu, 1.03},
	{"compile-unchanged", "", "go-at-once", wall, 1.25},
	{"image-unchanged", "", "ko", wall, 0.35},
	{"one-line", "", "ko", wall, 0.6},
	{"one-line", "", "loop", wall, 0.2},
	{"images-only", "cold", "buildx", wall, 0.18},
	{"images-only", "unchanged", "buildx", wall, 0.10},
	{"images-only", "cold", "limit", wall, 1.3},
	{"images-remote", "cold", "bytes-alone", wall, 1.15},
	{"images-remote", "unchanged", "", "requests-per-leg", 3},
	{"plan-verify", "100 images", "", wall, 1},
	{"memory", "", "", rss, 200e6},
	{"startup", "", "", wall, 0.050},
}

// scenarios are what they measure, in the order of the page.
var scenarios = []struct{ Name, Title, Text string }{
	{"cold", "Cold build cache", "Compile all commands for all platforms with an empty build cache."},
	{"compile-unchanged", "Compile, nothing changed", "Every binary is there and up to date."},
	{"image-unchanged", "Whole, nothing changed", "`image PUSH=true` once more: the registry has every image."},
	{"one-line", "One line changed in one command", "From source to registry."},
	{"shared-package", "One shared package changed", "The package that most commands import; from source to registry."},
	{"images-only", "Images and push from ready binaries", "A directory with Dockerfiles and `bin/`, no Go sources, to a registry on this machine. Cold: empty caches and registry."},
	{"images-remote", "The same over 20 ms and 50 MB/s", "All connections together have 50 MB/s each way, and a round trip takes 20 ms. `bytes-alone` is what was uploaded at that rate, and four round trips."},
	{"plan-verify", "Plan and verify alone", "Generated images on 6 platforms: `plan`, then `verify`."},
	{"platforms", "1 to 8 platforms", "A fleet that imports net/http, one line changed in one command; from source to registry."},
	{"memory", "Peak memory", "Of archmage itself, building and pushing images of so many megabytes from ready binaries."},
	{"startup", "Start-up", "`archmage version`, and the same of others."},
}
