package redis_test

import (
	"testing"

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

// TestStore_Commit_NobodyMayBeTold_Stands: what comes after the writes does not make them fail.
func TestStore_Commit_NobodyMayBeTold_Stands(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := operator(t, r.Address)
	must(t, c.Do(t.Context(), "acl", "setuser", "mute", "on", ">secret", "~palimpsest:*", "resetchannels", "+@all").Err())
	s := closing(t, open(t, redis.Options{URL: "redis://mute:secret@" + r.Address}))
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
	logs := c.Keys(t.Context(), "palimpsest:*}c*").Val()
	if len(logs) != 1 {
		t.Fatalf("%d logs of commits", len(logs))
	}
	must(t, c.Del(t.Context(), logs[0]).Err())
	must(t, c.RPush(t.Context(), logs[0], "x").Err())
	wants(t, k.append(t.Context(), s), store.ErrOutcomeUnknown)
}
