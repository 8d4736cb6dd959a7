//go:build !unix

package run

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
