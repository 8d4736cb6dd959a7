package registry

import (
	"context"
	"errors"
	"testing"
)

func TestMemoAsksOnce(t *testing.T) {
	var m memo[string, int]
	asked := 0
	for range 3 {
		got, err := m.get(t.Context(), "a", func() (int, error) { asked++; return asked, nil })
		if got != 1 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	}
	if got, _ := m.get(t.Context(), "b", func() (int, error) { return 7, nil }); got != 7 {
		t.Errorf("another question got %d", got)
	}
}

func TestMemoSharesErrorsAndForgetsThem(t *testing.T) {
	var m memo[string, int]
	broken := errors.New("broken")
	begun, end := make(chan struct{}), make(chan struct{})
	errs := make(chan error, 2)
	go func() {
		_, err := m.get(t.Context(), "a", func() (int, error) { close(begun); <-end; return 0, broken })
		errs <- err
	}()
	<-begun
	slot := m.m["a"]
	go func() {
		<-slot.done
		errs <- slot.err
	}()
	close(end)
	for range 2 {
		if err := <-errs; err != broken {
			t.Errorf("error %v", err)
		}
	}
	if got, err := m.get(t.Context(), "a", func() (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("later: %d, %v", got, err)
	}
}

func TestMemoOutlivesACancelledCaller(t *testing.T) {
	var m memo[string, int]
	ctx, cancel := context.WithCancel(t.Context())
	begun, done := make(chan struct{}), make(chan error)
	go func() {
		_, err := m.get(ctx, "a", func() (int, error) { close(begun); <-ctx.Done(); return 0, ctx.Err() })
		done <- err
	}()
	<-begun
	go func() {
		got, err := m.get(t.Context(), "a", func() (int, error) { return 2, nil })
		if err == nil && got != 2 {
			err = errors.New("the answer of the cancelled")
		}
		done <- err
	}()
	cancel()
	cancelled := 0
	for range 2 {
		if err := <-done; errors.Is(err, context.Canceled) {
			cancelled++
		} else if err != nil {
			t.Error(err)
		}
	}
	if cancelled != 1 {
		t.Errorf("%d were cancelled", cancelled)
	}
}
