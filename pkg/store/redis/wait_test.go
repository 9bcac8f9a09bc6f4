package redis_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// TestStore_Wait_OtherProcess_IsWoken: by what servers tell, long before the poller looks.
func TestStore_Wait_OtherProcess_IsWoken(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"server": dbtest.SharedRedis(t).Address, "cluster": dbtest.SharedCluster(t).Addresses[1]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := redis.Options{URL: "redis://" + address, Prefix: prefixOf(t.Name()), PollInterval: time.Hour}
			a, b := closing(t, open(t, o)), closing(t, open(t, o))
			k := newTalk(0)
			must(t, k.append(t.Context(), a))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			woken, version := make(chan error, 1), k.head.Version
			go func() { woken <- b.Wait(ctx, k.key, version) }()
			for {
				// What is told while nobody has subscribed yet is not heard.
				must(t, a.Commit(ctx, k.key, k.next(1)))
				k.head.Version++
				k.head.Messages++
				select {
				case err := <-woken:
					must(t, err)
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
}

// TestStore_Wait_Unheard_IsPolled: messages from servers may be lost.
func TestStore_Wait_Unheard_IsPolled(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := driver.NewClient(&driver.Options{Addr: r.Address})
	t.Cleanup(func() { must(t, c.Close()) })
	must(t, c.Do(t.Context(), "acl", "setuser", "deaf", "on", "nopass", "~*", "resetchannels", "+@all", "-subscribe").Err())
	o := redis.Options{URL: "redis://deaf:x@" + r.Address, PollInterval: 20 * time.Millisecond}
	a, b := closing(t, open(t, redis.Options{URL: "redis://" + r.Address})), closing(t, open(t, o))
	k := newTalk(0)
	must(t, k.append(t.Context(), a))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	woken := make(chan error, 1)
	go func() { woken <- b.Wait(ctx, k.key, k.head.Version) }()
	time.Sleep(100 * time.Millisecond)
	must(t, k.append(ctx, a))
	must(t, <-woken)
}

// TestStore_Wait_NearItsDeadline_EndsWithIt: a look that the deadline cuts short is no failure of the server.
func TestStore_Wait_NearItsDeadline_EndsWithIt(t *testing.T) {
	t.Parallel()
	p := startProxy(t, dbtest.SharedRedis(t).Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + p.address, Prefix: prefixOf(t.Name())}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	p.late.Store(int64(50 * time.Millisecond))
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.Wait(ctx, k.key, k.head.Version); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("it ends with %v", err)
		}
		cancel()
	}
}

// TestStore_Wait_ManyOneAfterAnother_AreWokenOverOneConnection: the poller sees whatever happens between a look and a message.
func TestStore_Wait_ManyOneAfterAnother_AreWokenOverOneConnection(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	o := redis.Options{URL: "redis://" + r.Address, PollInterval: 20 * time.Millisecond, PulseInterval: time.Hour}
	a, b := closing(t, open(t, o)), closing(t, open(t, o))
	other, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = a.Wait(other, newTalk(99).key, 1000) }()
	connections := func() int {
		n, err := operator(t, r.Address).Info(t.Context(), "stats").Result()
		must(t, err)
		_, n, _ = strings.Cut(n, "total_connections_received:")
		n, _, _ = strings.Cut(n, "\r")
		count, err := strconv.Atoi(n)
		must(t, err)
		return count
	}
	before := connections()
	for i := range 40 {
		k := newTalk(i % 8)
		k.head.Version, k.head.Messages = uint64(i/8), int32(i/8)
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		ended := make(chan error, 1)
		go func() { ended <- a.Wait(ctx, k.key, k.head.Version) }()
		time.Sleep(time.Duration(i%8) * 200 * time.Microsecond)
		must(t, b.Commit(t.Context(), k.key, k.next(1)))
		must(t, <-ended)
		stop()
	}
	if n := connections() - before; n > 8 {
		t.Errorf("%d new connections", n)
	}
}

// TestStore_Seal_ChunkOnItsWay_IsNotWritten: a chunk goes by itself, after the script that makes room for it.
func TestStore_Seal_ChunkOnItsWay_IsNotWritten(t *testing.T) {
	t.Parallel()
	address, prefix := dbtest.SharedRedis(t).Address, prefixOf(t.Name())
	p := startProxy(t, address)
	slow := closing(t, open(t, redis.Options{URL: "redis://" + p.address, Prefix: prefix}))
	s := closing(t, open(t, redis.Options{URL: "redis://" + address, Prefix: prefix}))
	k := newTalk(0)
	must(t, k.append(t.Context(), slow))
	u := &store.Upload{Incarnation: k.head.Incarnation, ID: conversation.ID{1}, Data: []byte("x")}
	must(t, slow.Stage(t.Context(), k.key, u))
	const late = 200 * time.Millisecond
	p.late.Store(int64(late))
	staged := make(chan error, 1)
	go func() { staged <- slow.Stage(t.Context(), k.key, u) }()
	time.Sleep(2*late + late/2) // the room is made, and the seal was looked at
	must(t, s.Seal(t.Context(), true))
	wants(t, <-staged, store.ErrSealed)
}
