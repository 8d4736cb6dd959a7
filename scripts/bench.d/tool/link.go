package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// link is a network between clients and a server on this machine: what is sent
// arrives half a round trip later, and all connections together carry no more
// than rate bytes per second in each direction. A connection costs the round
// trip of its handshake. Windows and losses are not modelled.
type link struct {
	to       string
	rtt      time.Duration
	up, down wire
}

// wire is one direction of a link, which one chunk occupies at a time.
type wire struct {
	rate  float64 // bytes per second
	bytes atomic.Int64
	mu    sync.Mutex
	free  time.Time // when the last chunk has left
}

// chunk is read at once. At 50 MB/s it occupies the wire for 0.7 ms.
const chunk = 32 << 10

// linkVerb relays until it is asked to end, then writes what passed: bytes up,
// bytes down, connections.
func linkVerb(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("link", flag.ContinueOnError)
	listen, to := fs.String("listen", "127.0.0.1:0", "address"), fs.String("to", "", "address of the server")
	rtt, rate := fs.Duration("rtt", 20*time.Millisecond, "round trip"), fs.Float64("rate", 50e6, "bytes per second, each way")
	counts := fs.String("counts", "", "file for what passed")
	if err := fs.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	n := &link{to: *to, rtt: *rtt, up: wire{rate: *rate}, down: wire{rate: *rate}}
	connections := 0
	for {
		client, err := l.Accept()
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		connections++
		go n.relay(client)
	}
	text := fmt.Sprintf("%d %d %d\n", n.up.bytes.Load(), n.down.bytes.Load(), connections)
	if *counts == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(*counts, []byte(text), 0o644)
}

func (n *link) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	time.Sleep(n.rtt) // the handshake, which loopback has answered at once
	server, err := net.Dial("tcp", n.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() { n.up.carry(server, client, n.rtt/2) })
	both.Go(func() { n.down.carry(client, server, n.rtt/2) })
	both.Wait()
}

type flight struct {
	data []byte
	at   time.Time // of its arrival
}

// carry copies until the sender ends. What is in flight never exceeds what fits
// into the delay, so a sender feels the rate.
func (w *wire) carry(to, from net.Conn, delay time.Duration) {
	flights := make(chan flight, 1+int(w.rate*(delay+queue).Seconds())/chunk)
	go func() {
		defer close(flights)
		for {
			data := make([]byte, chunk)
			n, err := from.Read(data)
			if n > 0 {
				flights <- flight{data[:n], w.occupy(n).Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for f := range flights {
		time.Sleep(time.Until(f.at))
		if _, err := to.Write(f.data); err != nil {
			break
		}
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite() // the other side may be gone
	}
	_, _ = io.Copy(io.Discard, from) // nothing is left but after a failed write
	for range flights {              // drained, so that the reader ends
	}
}

// queue is how long before its turn a chunk may come, so that a reader which wakes
// late leaves no gap on the wire.
const queue = 10 * time.Millisecond

// occupy waits for the wire, and returns when n bytes will have left it.
func (w *wire) occupy(n int) time.Time {
	w.bytes.Add(int64(n))
	w.mu.Lock()
	start := time.Now()
	if w.free.After(start) {
		start = w.free
	}
	w.free = start.Add(time.Duration(float64(n) / w.rate * float64(time.Second)))
	end := w.free
	w.mu.Unlock()
	time.Sleep(time.Until(start) - queue)
	return end
}
