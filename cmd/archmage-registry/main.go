// Command archmage-registry is a small OCI registry on a directory, for
// laptops, kind clusters and CI jobs without one. What was pushed is there
// again after a restart. There is no login and no TLS, so it listens on this
// machine alone unless told otherwise.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0 after an interrupt, 1 when something failed, 2
// for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return execute(ctx, args, stdout, stderr)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "archmage-registry: %v\n", err)
		return 2
	}
	fmt.Fprintf(stderr, "archmage-registry: %v\n", err)
	return 1
}

type settings struct {
	dir, listen string
	remote      bool
}

func command() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:           "archmage-registry",
		Short:         "Serve an OCI registry from a directory",
		Long:          long,
		Example:       "  archmage-registry --dir /var/lib/images --listen 127.0.0.1:5000",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown argument %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), s, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cmd.Flags().StringVar(&s.dir, "dir", "registry", "directory that holds the images; it is made where it is missing")
	cmd.Flags().StringVar(&s.listen, "listen", "127.0.0.1:5000", "address to listen on; port 0 takes a free one")
	cmd.Flags().BoolVar(&s.remote, "insecure-allow-remote", false, "let other machines in: anyone who reaches the port may read and write")
	return cmd
}

// serve returns when ctx ends and running requests have, or after five seconds.
func serve(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	if err := checkListen(s); err != nil {
		return err
	}
	log := &writeLog{w: stderr}
	handler, err := open(s.dir, log)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", s.listen, err)
	}
	fmt.Fprintln(stdout, listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("stop: %w", errors.Join(err, server.Close()))
	}
	return nil
}

// checkListen refuses addresses that other machines reach.
func checkListen(s settings) error {
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return usageError{fmt.Errorf("listen on %s: write host:port, e.g. 127.0.0.1:5000", s.listen)}
	}
	ip := net.ParseIP(host)
	if s.remote || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usageError{fmt.Errorf("listen on %s: other machines would get in, without login; "+
		"listen on 127.0.0.1, or say --insecure-allow-remote", s.listen)}
}
