package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
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

// TestEpochs_NoteWritten_AnotherInBetween_IsNotKnown: two connections wrote, and nobody knows which was last.
func TestEpochs_NoteWritten_AnotherInBetween_IsNotKnown(t *testing.T) {
	t.Parallel()
	var e epochs
	e.noteWritten("n", "", "new")
	e.noteWritten("n", "", "new")
	if e.of("n") != "new" {
		t.Error("an epoch that two wrote is not known")
	}
	e.noteWritten("n", "", "old")
	if e.of("n") != "" {
		t.Error("one of two epochs is known")
	}
}

// TestParse_Unsafe_IsRefused: certificates that nobody checks, and nodes behind a socket.
func TestParse_Unsafe_IsRefused(t *testing.T) {
	t.Parallel()
	for url, safe := range map[string]bool{
		"rediss://db.example:6379?skip_verify=true": false, "unix:///socket?addr=db.example:6379": false,
		"rediss://db.example:6379": true, "unix:///socket": true,
	} {
		if _, err := parse(&Options{URL: url}); (err == nil) != safe {
			t.Errorf("%s: %v", url, err)
		}
	}
	_, err := parse(&Options{URL: "rediss://db.example:6379?skip_verify=true", Insecure: true})
	must(t, err)
}

// TestStore_Commit_ChunkNeverPut_IsGone: its room was made, and then the process ended.
func TestStore_Commit_ChunkNeverPut_IsGone(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: "redis://" + dbtest.StartRedis(t).Address})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	key := store.Key{Namespace: "n", Conversation: "c"}
	p := s.space.place(key)
	c := &store.Change{Head: store.Head{Incarnation: conversation.ID{1}, Version: 1, Request: -1, Opening: -1}}
	must(t, s.Commit(t.Context(), key, c))
	u := &store.Upload{Incarnation: c.Head.Incarnation, Time: time.Now(), ID: conversation.ID{7}, Data: []byte("abc")}
	must(t, s.register(t.Context(), p, u))
	second := *u
	second.Chunk = 1
	must(t, s.Stage(t.Context(), key, &second))
	c.Expect, c.Head.Version, c.Uploads = 1, 2, []conversation.ID{u.ID}
	if err := s.Commit(t.Context(), key, c); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a content without its bytes: %v", err)
	}
	must(t, s.Stage(t.Context(), key, u))
	must(t, s.Commit(t.Context(), key, c))
	read := func() error {
		snap, err := s.Read(t.Context(), key, store.Query{Contents: []store.ContentRange{{ID: u.ID, Length: -1}}})
		if err == nil && string(snap.Contents[0]) != "abcabc" {
			t.Errorf("content %q", snap.Contents)
		}
		return err
	}
	must(t, read())
	must(t, s.single.Del(t.Context(), p.chunk(u.Incarnation, u.ID, 1)).Err())
	if err := read(); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a content that has lost a chunk: %v", err)
	}
}

type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

// TestStore_Failed_PartitionMoves_IsNoState: of one partition nobody can tell that the store does not write.
func TestStore_Failed_PartitionMoves_IsNoState(t *testing.T) {
	t.Parallel()
	told := 0
	s := &Store{}
	s.health.changed = func(error) { told++ }
	for _, a := range []answer{"TRYAGAIN later", "MOVED 1 a:1", "ASK 1 a:1"} {
		if err := s.failed(t.Context(), a, false); !errors.Is(err, store.ErrUnavailable) || told > 0 {
			t.Errorf("%s: %v, told %d times", a, err, told)
		}
	}
	if _ = s.failed(t.Context(), answer("READONLY x"), false); told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestStore_CheckMasters_Cluster_IsWell: its masters take a script without keys.
func TestStore_CheckMasters_Cluster_IsWell(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: "redis://" + dbtest.SharedCluster(t).Addresses[0], Prefix: "feel:"})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, s.checkMasters(t.Context()))
}
