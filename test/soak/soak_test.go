package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	agents       = 6
	mortals      = 3 // conversations with a ttl
	defaultSoak  = 3 * time.Second
	ttl          = time.Minute
	goroutineGap = 10 // how many goroutines more than a fresh process may be left when nobody calls
)

// TestSoak_MixedAgents_StayInBoundsAndLoseNothing lets agents work, and looks at the process meanwhile and at the record after.
func TestSoak_MixedAgents_StayInBoundsAndLoseNothing(t *testing.T) {
	length, seed := soakFor(t), proptest.Seed(t)
	binary, err := process.Build(t.TempDir(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	sidecar := start(t, binary, folder, serveModel(t)...)
	done := &counts{}
	crew := hire(t, sidecar, seed, done)

	stop, watched := make(chan struct{}), make(chan error, 1)
	go func() {
		samples, err := watch(sidecar.PID(), stop)
		was, is, grown := growth(samples)
		t.Logf("memory %d MiB, then %d MiB; threads %d, then %d; files %d, then %d",
			was.memory>>20, is.memory>>20, was.threads, is.threads, was.files, is.files)
		watched <- errors.Join(err, grown)
	}()
	soak(t, crew, length)
	close(stop)
	need(t, sidecar, <-watched)
	for _, a := range crew {
		need(t, sidecar, a.check(t.Context()))
		a.Close()
	}
	time.Sleep(time.Second) // for the sidecar to notice
	left, fresh := goroutines(t, sidecar), goroutines(t, start(t, binary, t.TempDir()))
	if left > fresh+goroutineGap {
		t.Errorf("%d goroutines are left when nobody calls, a fresh process has %d:\n%s", left, fresh, sidecar.Log())
	}
	again(t, start(t, binary, folder), crew)
	t.Logf("%s, seed %d: %d messages, %d builds, %d exports imported and compared, %d deletions, %d expiries; %d goroutines left, a fresh process has %d",
		length, seed, done.appends.Load(), done.builds.Load(), done.copies.Load(), done.deletions.Load(), done.expiries.Load(), left, fresh)
	t.Logf("%d expansions, %d messages found erased, %d builds beyond erasures", done.expansions.Load(), done.erased.Load(), done.beyond.Load())
	t.Logf("%d summaries, %d results pruned, %d compactions asked for, %d rewinds",
		done.summaries.Load(), done.pruned.Load(), done.compactions.Load(), done.rewinds.Load())
	t.Logf("%d contents stored, %d searches, %d contents gone with their runs", done.contents.Load(), done.searches.Load(), done.gone.Load())
	if length > ttl/2 && min(done.contents.Load(), done.searches.Load(), done.gone.Load()) == 0 {
		t.Error("nobody stored contents")
	}
	if length > ttl/2 && min(done.expansions.Load(), done.erased.Load()) == 0 {
		t.Error("nobody used the lifecycle")
	}
	if length > ttl/2 && min(done.summaries.Load(), done.pruned.Load(), done.compactions.Load(), done.rewinds.Load()) == 0 {
		t.Error("no window was worked on")
	}
}

func soakFor(t *testing.T) time.Duration {
	set := os.Getenv("PALIMPSEST_SOAK")
	if set == "" {
		return defaultSoak
	}
	length, err := time.ParseDuration(set)
	if err != nil {
		t.Fatalf("PALIMPSEST_SOAK must be a duration, such as 10m: %q", set)
	}
	return length
}

func start(t *testing.T, binary, folder string, flags ...string) *process.Sidecar {
	t.Helper()
	sidecar, err := process.Start(binary, folder, append(flags, "--cache-size", "16MiB", "--content-cache-bytes", "16MiB")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	return sidecar
}

func need(t *testing.T, sidecar *process.Sidecar, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("%v\nthe sidecar wrote:\n%s", err, sidecar.Log())
	}
}

func hire(t *testing.T, sidecar *process.Sidecar, seed uint64, done *counts) (crew []*agent) {
	t.Helper()
	for i := range agents {
		client, err := sidecar.Dial()
		need(t, sidecar, err)
		crew = append(crew, newAgent(i, seed, client, done))
	}
	return crew
}

// soak lets all agents work for a time; the first error of one ends the work of all.
func soak(t *testing.T, crew []*agent, length time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	deadline := time.Now().Add(length)
	var working sync.WaitGroup
	for i, a := range crew {
		working.Go(func() {
			if err := a.shift(ctx, deadline, i == 0 && length > ttl+ttl/2); err != nil {
				cancel(fmt.Errorf("agent %d: %w", i, err))
			}
		})
	}
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
}

// shift works until the deadline. The agent that minds the mortals begins them first, and looks after their ends.
func (a *agent) shift(ctx context.Context, deadline time.Time, minds bool) error {
	var ends time.Time
	if minds {
		ends = time.Now().Add(ttl + 5*time.Second)
		if err := each(ctx, a.ending); err != nil {
			return err
		}
	}
	for time.Now().Before(deadline) {
		if !ends.IsZero() && time.Now().After(ends) {
			ends = time.Time{}
			if err := each(ctx, a.ended); err != nil {
				return err
			}
		}
		if err := a.work(ctx); err != nil {
			return err
		}
	}
	return nil
}

func each(ctx context.Context, do func(ctx context.Context, name string) error) error {
	for i := range mortals {
		if err := do(ctx, fmt.Sprint("mortal-", i)); err != nil {
			return err
		}
	}
	return nil
}

// goroutines ends a process and counts what it was doing.
func goroutines(t *testing.T, sidecar *process.Sidecar) int {
	t.Helper()
	need(t, sidecar, sidecar.Dump())
	n := strings.Count(sidecar.Log(), "\ngoroutine ")
	if n == 0 {
		t.Fatalf("the dump shows no goroutine:\n%s", sidecar.Log())
	}
	return n
}

// again checks every agent's conversation once more after a restart, and that the sidecar stops when it is asked to.
func again(t *testing.T, sidecar *process.Sidecar, crew []*agent) {
	t.Helper()
	for _, a := range crew {
		client, err := sidecar.Dial()
		need(t, sidecar, err)
		a.Client = client
		need(t, sidecar, a.check(t.Context()))
		client.Close()
	}
	need(t, sidecar, sidecar.Stop())
}
