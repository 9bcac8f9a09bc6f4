package bolt

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// BenchmarkErase measures erasing commits, and the writes after them that a piece of wiping may hold up, with wiping and without.
func BenchmarkErase(b *testing.B) {
	for _, size := range []int{16 << 20, 1 << 30} {
		for _, off := range []bool{true, false} {
			b.Run(fmt.Sprintf("file=%dMiB/wiping=%v", size>>20, !off), func(b *testing.B) { benchErase(b, size, off) })
		}
	}
}

func benchErase(b *testing.B, size int, off bool) {
	var steps atomic.Int64
	s, err := Open(filepath.Join(b.TempDir(), "store.db"), Options{Wipe: func(step func() error) error {
		steps.Add(1)
		if off {
			return syscall.ENOSPC
		}
		return step()
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	d := newDiary(s, 1)
	if err := d.write(b.Context()); err != nil {
		b.Fatal(err)
	}
	fillTo(b, s, size)
	if !off {
		benchQuiet(&steps)
	}
	var erasures, writes []time.Duration
	for b.Loop() {
		start := time.Now()
		err := d.write(b.Context())
		wrote := time.Now()
		err = errors.Join(err, d.erase(b.Context(), d.head.Messages-1))
		writes, erasures = append(writes, wrote.Sub(start)/2), append(erasures, time.Since(wrote)) // a write is two commits
		if err != nil {
			b.Fatal(err)
		}
	}
	report(b, "erase", erasures)
	report(b, "write", writes)
	start := time.Now() // Close makes the rest of the round without a rest
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "close-ms")
}

// fillTo adds contents of another conversation.
func fillTo(b *testing.B, s *Store, size int) {
	data := noise(store.ChunkBytes)
	for n := range size / store.ChunkBytes {
		u := &store.Upload{Incarnation: ratioID(9), ID: contentOf(int32(n)), Data: data}
		if err := s.Stage(b.Context(), ratioKey(9), u); err != nil {
			b.Fatal(err)
		}
	}
}

// benchQuiet waits until nothing has been wiped for a while, and says when it was over.
func benchQuiet(steps *atomic.Int64) (over time.Time) {
	over = time.Now()
	for last := steps.Load(); time.Since(over) < 300*time.Millisecond; time.Sleep(time.Millisecond) {
		if n := steps.Load(); n != last {
			last, over = n, time.Now()
		}
	}
	return over
}

func report(b *testing.B, what string, took []time.Duration) {
	slices.Sort(took)
	for name, at := range map[string]int{"p50": len(took) / 2, "p99": len(took) * 99 / 100} {
		b.ReportMetric(float64(took[at].Microseconds())/1000, what+"-"+name+"-ms")
	}
}

// BenchmarkWipe_Gibibyte measures how long it takes after the end of a conversation until its contents are written over.
func BenchmarkWipe_Gibibyte(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		var steps atomic.Int64
		s, err := Open(filepath.Join(b.TempDir(), fmt.Sprintf("%d.db", b.N)), Options{Wipe: func(step func() error) error {
			steps.Add(1)
			return step()
		}})
		if err != nil {
			b.Fatal(err)
		}
		fillTo(b, s, 1<<30)
		benchQuiet(&steps)
		b.StartTimer()
		start := time.Now()
		for done := false; !done; {
			if done, err = s.Delete(b.Context(), ratioKey(9), store.Deletion{Incarnation: ratioID(9)}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(start).Seconds(), "delete-s")
		b.ReportMetric(benchQuiet(&steps).Sub(start).Seconds(), "wiped-s")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
