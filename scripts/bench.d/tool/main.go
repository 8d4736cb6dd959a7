// Command tool is what scripts/bench cannot say in a shell: it generates the
// repositories that are measured, pushes their base image, shapes a link, and
// makes tables of what was measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
)

var errUsage = errors.New("usage: tool fleet | base | link | port | names | report [flags]")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	verb, args := args[0], args[1:]
	switch verb {
	case "fleet":
		return fleetVerb(args)
	case "base":
		return baseVerb(ctx, args)
	case "link":
		return linkVerb(ctx, args)
	case "port":
		return port()
	case "names":
		return namesVerb(args, os.Stdin, os.Stdout)
	case "report":
		return reportVerb(args)
	}
	return errUsage
}

// port prints a port of this machine that nobody listens on.
func port() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	return l.Close()
}
