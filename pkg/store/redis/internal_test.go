package redis

import (
	"context"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStore_Settle_NewConnection_DoesNotWaitForItself: the pulse of a server that was promoted may have to connect first.
func TestStore_Settle_NewConnection_DoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: "redis://" + dbtest.StartRedis(t).Address, PoolSize: 4, PulseInterval: time.Hour})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	held := s.single.Conn() // the one that is idle
	t.Cleanup(func() { must(t, held.Close()) })
	must(t, held.Ping(t.Context()).Err())
	settled := make(chan error, 1)
	go func() {
		info := map[string]string{"role": "master", "run_id": "x", "master_replid": "promoted"}
		settled <- s.settle(context.Background(), s.single.Options().Addr, info, s.single)
	}()
	select {
	case err := <-settled:
		must(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("it waits for itself")
	}
}

// TestEpochs_Put_AnotherInBetween_IsNotKnown: two connections wrote, and nobody knows which was last.
func TestEpochs_Put_AnotherInBetween_IsNotKnown(t *testing.T) {
	t.Parallel()
	var e epochs
	e.put("n", "", "new")
	e.put("n", "", "new")
	if e.of("n") != "new" {
		t.Error("an epoch that two wrote is not known")
	}
	e.put("n", "", "old")
	if e.of("n") != "" {
		t.Error("one of two epochs is known")
	}
}
