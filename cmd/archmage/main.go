// Archmage turns a Go repository's commands and its Dockerfiles into
// multi-architecture container images, with no daemon and no emulation.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // an image FROM scratch has no roots of its own

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/console"
	_ "github.com/archmage-go/archmage/scripts" // so that a vendor directory has archmage.mk
)

func main() { os.Exit(archmage(os.Args[1:], os.Stdout, os.Stderr)) }

var errInterrupted = errors.New("interrupted")

// archmage is main with its surroundings as arguments. It returns the exit code.
func archmage(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := console.New(stdout, stderr)
	defer c.Close() // for a panic too
	root := newRoot(c)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := build.ExitCode(err)
	switch {
	case code == build.ExitInterrupted:
		c.Error(errInterrupted)
	case err != nil:
		c.Error(err)
	}
	return code
}
