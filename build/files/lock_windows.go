package files

import "os"

// keep does nothing: Windows removes no file that is open.
func keep(string) (unlock func()) { return func() {} }

// sweep removes a file that is old. A younger one may be closed and about to get
// its name.
func sweep(name string, old bool) {
	if old {
		os.Remove(name)
	}
}
