package redis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// operator is a client of a test's own.
func operator(t *testing.T, address string) *driver.Client {
	t.Helper()
	c := driver.NewClient(&driver.Options{Addr: address})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// TestStore_Commit_NobodyMayBeTold_Stands: a failure after the writes does not make the commit fail.
func TestStore_Commit_NobodyMayBeTold_Stands(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := operator(t, r.Address)
	must(t, c.Do(t.Context(), "acl", "setuser", "mute", "on", ">secret", "~palimpsest:*", "resetchannels", "+@all").Err())
	s := closing(t, open(t, redis.Options{URL: "redis://mute:secret@" + r.Address}))
	for i := range 256 {
		must(t, c.Set(t.Context(), fmt.Sprintf("palimpsest:{%d}q", i), 1, 0).Err()) // somebody listens
	}
	k := newTalk(0)
	must(t, k.append(t.Context(), s)) // commit.lua
	must(t, k.append(t.Context(), s)) // append.lua
}

// TestStore_Commit_EndsHalfWay_IsUnknown: a script that had written before it failed.
func TestStore_Commit_EndsHalfWay_IsUnknown(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := operator(t, r.Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	change := k.next(10)
	change.Slots = map[string][]byte{"a": []byte("b")}
	must(t, s.Commit(t.Context(), k.key, change))
	k.head = change.Head
	slots := c.Keys(t.Context(), "palimpsest:*}s*").Val()
	if len(slots) != 1 {
		t.Fatalf("%d keys of slots", len(slots))
	}
	must(t, c.Del(t.Context(), slots[0]).Err())
	must(t, c.RPush(t.Context(), slots[0], "x").Err())
	change = k.next(10)
	change.Slots = map[string][]byte{"a": []byte("b")}
	wants(t, s.Commit(t.Context(), k.key, change), store.ErrOutcomeUnknown)
}

// fill makes a server use up its memory.
func fill(t *testing.T, c *driver.Client) {
	t.Helper()
	for i := 0; ; i++ {
		err := c.Set(t.Context(), fmt.Sprint("fill", i), make([]byte, 20_000), 0).Err()
		if err != nil {
			break
		}
	}
	must(t, c.ConfigSet(t.Context(), "maxmemory", "2mb").Err())
}

// TestOpen_MemoryFull_ReadsErasesAndSeals: also after the server has restarted, and its epochs have to be written.
func TestOpen_MemoryFull_ReadsErasesAndSeals(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t, "--maxmemory", "6mb")
	o := redis.Options{URL: "redis://" + r.Address}
	k := newTalk(0)
	must(t, k.append(t.Context(), closing(t, open(t, o))))
	fill(t, operator(t, r.Address))
	r.Terminate()
	must(t, r.Start())
	must(t, operator(t, r.Address).ConfigSet(t.Context(), "maxmemory", "2mb").Err())
	s := closing(t, open(t, o))
	snap, err := s.Read(t.Context(), k.key, store.Query{})
	must(t, err)
	if snap.Head.Epoch == "" {
		t.Error("no epoch")
	}
	wants(t, k.append(t.Context(), s), store.ErrFull)
	bury := &store.Change{Expect: 1, Head: snap.Head}
	bury.Head.Version, bury.Head.State = 2, store.Deleted
	must(t, s.Commit(t.Context(), k.key, bury))
	done, err := s.Delete(t.Context(), k.key, store.Deletion{Incarnation: k.head.Incarnation})
	must(t, err)
	if !done {
		t.Error("it is not deleted")
	}
	must(t, s.Seal(t.Context(), true))
	_, err = s.Delete(t.Context(), k.key, store.Deletion{Incarnation: k.head.Incarnation})
	wants(t, err, store.ErrSealed)
}

// TestOpen_ServerRefusesWrites_Reads: when the server writes again, the epochs are written before anything else.
func TestOpen_ServerRefusesWrites_Reads(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := operator(t, r.Address)
	o := redis.Options{URL: "redis://" + r.Address, PulseInterval: time.Hour}
	k := newTalk(0)
	first := open(t, o)
	must(t, k.append(t.Context(), first))
	must(t, first.Close())
	for i := range 256 {
		must(t, c.Set(t.Context(), fmt.Sprintf("palimpsest:{%d}e", i), "before", 0).Err())
	}
	must(t, c.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err())
	s := closing(t, open(t, o))
	snap, err := s.Read(t.Context(), k.key, store.Query{})
	must(t, err)
	k.head = snap.Head
	wants(t, k.append(t.Context(), s), store.ErrUnavailable)
	must(t, c.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err())
	wants(t, k.append(t.Context(), s), store.ErrConflict)
	k.head.Epoch = ""
	must(t, k.append(t.Context(), s))
}

func TestOpen_MustExist_RefusesAnEmptyPrefixAndWritesNothing(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"server": dbtest.SharedRedis(t).Address, "cluster": dbtest.SharedCluster(t).Addresses[0]} {
		o := redis.Options{URL: "redis://" + address, Prefix: prefixOf(t.Name() + name), MustExist: true}
		_, err := redis.Open(t.Context(), o)
		wants(t, err, redis.ErrNoStore)
		for _, a := range append([]string{address}, dbtest.SharedCluster(t).Addresses...) {
			if keys := operator(t, a).Keys(t.Context(), o.Prefix+"*").Val(); len(keys) > 0 {
				t.Errorf("%s: %d keys were written", name, len(keys))
			}
		}
		o.MustExist = false
		closing(t, open(t, o))
		o.MustExist = true
		closing(t, open(t, o))
	}
}

// TestStore_Commit_Refused_LeavesNoClaim: this holds for every reason of refusal.
func TestStore_Commit_Refused_LeavesNoClaim(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := operator(t, r.Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
	must(t, newTalk(0).append(t.Context(), s))
	before := c.DBSize(t.Context()).Val()
	must(t, c.Do(t.Context(), "acl", "setuser", "default", "-evalsha").Err())
	wants(t, newTalk(1).append(t.Context(), s), store.ErrUnavailable)
	if after := c.DBSize(t.Context()).Val(); after != before {
		t.Errorf("%d keys, before: %d", after, before)
	}
}

// TestStore_Health_ServerSetOtherwise_FollowsAndDoesNotFlap: as it is set at run time, with calls and without.
func TestStore_Health_ServerSetOtherwise_FollowsAndDoesNotFlap(t *testing.T) {
	t.Parallel()
	r, seen := dbtest.StartRedis(t), &states{}
	c := operator(t, r.Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address, OnState: seen.set, PulseInterval: 10 * time.Millisecond}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	for i, setting := range []struct{ name, bad, good string }{
		{"min-replicas-to-write", "1", "0"}, {"maxmemory-policy", "allkeys-lru", "noeviction"}, {"appendonly", "no", "yes"},
	} {
		must(t, c.ConfigSet(t.Context(), setting.name, setting.bad).Err())
		seen.await(t, true)
		for range 5 { // each would tell
			if i == 0 {
				wants(t, k.append(t.Context(), s), store.ErrUnavailable)
			}
			time.Sleep(5 * time.Millisecond)
		}
		must(t, c.ConfigSet(t.Context(), setting.name, setting.good).Err())
		seen.await(t, false)
		seen.mu.Lock()
		if n := 2 * (i + 1); seen.n != n {
			t.Errorf("%s: told %d times, wanted %d", setting.name, seen.n, n)
		}
		seen.mu.Unlock()
	}
}

// TestStore_Health_SnapshotFails_Follows: where a server stops writing for that (stop-writes-on-bgsave-error).
func TestStore_Health_SnapshotFails_Follows(t *testing.T) {
	t.Parallel()
	r, seen := dbtest.StartRedis(t), &states{}
	c := operator(t, r.Address)
	closing(t, open(t, redis.Options{URL: "redis://" + r.Address, OnState: seen.set, PulseInterval: 10 * time.Millisecond}))
	must(t, c.ConfigSet(t.Context(), "save", "3600 1").Err())
	dir := c.ConfigGet(t.Context(), "dir").Val()["dir"]
	must(t, os.Mkdir(filepath.Join(dir, "dump.rdb"), 0o700)) // it cannot be replaced
	must(t, c.BgSave(t.Context()).Err())
	seen.await(t, true)
	must(t, os.Remove(filepath.Join(dir, "dump.rdb")))
	eventually(t, func() error { return c.BgSave(t.Context()).Err() })
	seen.await(t, false)
}
