package faulty

// How often whole runs are tried, in CI and by `make nightly`: schedules of
// faults, and runs that are killed.
const (
	Schedules        = 40
	NightlySchedules = 1000
	Kills            = 40
	NightlyKills     = 200
)
