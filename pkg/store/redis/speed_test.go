package redis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// bareScript is the least that a commit has to do: compare the version, write the head and the message.
const bareScript = `#!lua
local v = redis.call('HMGET', KEYS[1], 'v', 'i')
if v[1] ~= ARGV[1] or v[2] ~= ARGV[5] then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'h', ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return 1`

// bare is one conversation without a store.
type bare struct {
	c             *driver.Client
	script        *driver.Script
	tag           string
	version       int
	head, message []byte
}

func newBare(t testing.TB, c *driver.Client, n, size int) *bare {
	t.Helper()
	change, codec := newTalk(0).next(size), record.New()
	b := &bare{
		c: c, script: driver.NewScript(bareScript), tag: fmt.Sprintf("bare%s{%d}", prefixOf(t.Name()), n),
		head: codec.EncodeHead(&change.Head), message: codec.EncodeMessage(&change.Messages[0]),
	}
	if err := c.HSet(t.Context(), b.tag+"h", "v", 0, "i", "inc").Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bare) append(ctx context.Context) error {
	n, err := b.script.Run(ctx, b.c, []string{b.tag + "h", b.tag + "m"}, b.version, b.version+1, b.head, b.message, "inc").Int()
	if err == nil && n != 1 {
		err = fmt.Errorf("answer %d", n)
	}
	b.version++
	return err
}

// decode does with a window's bytes what any reader has to.
func (b *bare) decode() error {
	codec := record.New()
	for range 100 {
		if _, err := codec.DecodeMessage(b.message); err != nil {
			return err
		}
	}
	return nil
}

// window reads the head and the last hundred messages in one MULTI.
func (b *bare) window(ctx context.Context) error {
	fields := make([]string, 0, 100)
	for i := b.version - 100; i < b.version; i++ {
		fields = append(fields, strconv.Itoa(i))
	}
	_, err := b.c.TxPipelined(ctx, func(p driver.Pipeliner) error {
		p.HMGet(ctx, b.tag+"h", "v", "h")
		p.HMGet(ctx, b.tag+"m", fields...)
		return nil
	})
	return err
}

// contest measures several ways in many short rounds, in a new random order each time, and returns the p50 of each one's best round. Other
// load on the machine affects all of them, and periodic work, such as the server's sync each second, does not affect only one.
func contest(t *testing.T, rounds int, ways ...func() error) []time.Duration {
	t.Helper()
	prepared := make([]func() func() error, len(ways))
	for i, way := range ways {
		prepared[i] = func() func() error { return way }
	}
	return contestPrepared(t, rounds, prepared...)
}

// contestPrepared does not count what makes a call ready.
func contestPrepared(t *testing.T, rounds int, ways ...func() func() error) []time.Duration {
	t.Helper()
	draw := rand.New(rand.NewPCG(1, 2))
	best := make([]time.Duration, len(ways))
	for range rounds {
		for _, i := range draw.Perm(len(ways)) {
			took := make([]time.Duration, 0, 2048)
			for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
				call := ways[i]()
				began := time.Now()
				must(t, call())
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			if p50 := took[len(took)/2]; best[i] == 0 || p50 < best[i] {
				best[i] = p50
			}
		}
	}
	return best
}

const kibibyte = 1024

// What a store may cost beside the bare script and the bare MULTI.
const barAppend, barCallers, barWindow = 1.3, 0.75, 1.5

func TestStore_Speed_AgainstTheBareScript(t *testing.T) {
	testlane.Speed(t)
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			r := dbtest.StartRedis(t, "--appendfsync", fsync)
			s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
			c := driver.NewClient(&driver.Options{
				Addr: r.Address, PoolSize: 64, MaxRetries: -1, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			})
			t.Cleanup(func() { must(t, c.Close()) })
			lone(t, s, c)
			many(t, s, c)
		})
	}
}

func lone(t *testing.T, s *redis.Store, c *driver.Client) {
	t.Helper()
	k, b := newTalk(9), newBare(t, c, 9, kibibyte)
	grow := grower(t, s, k)
	for range 300 {
		must(t, grow())
		must(t, b.append(t.Context()))
	}
	times := contestPrepared(t, 100, preparer(t, s, k), func() func() error { return func() error { return b.append(t.Context()) } })
	ratio(t, "append p50", times, barAppend)
	last := conversation.Range{First: k.head.Messages - 100, End: k.head.Messages}
	q := store.Query{Ranges: []store.MessageRange{{Range: last}}, Edits: &store.EditRange{Of: []conversation.Range{last}}}
	times = contest(t, 30, func() error { _, err := s.Read(t.Context(), k.key, q); return err }, func() error { return b.window(t.Context()) }, b.decode)
	t.Logf("decoding the window takes %v of it", times[2])
	ratio(t, "window of 100", times, barWindow)
	times = contest(t, 20, func() error { _, err := s.Read(t.Context(), k.key, store.Query{}); return err },
		func() error { return c.HMGet(t.Context(), b.tag+"h", "v", "h").Err() })
	t.Logf("head: %v, bare %v", times[0], times[1])
}

// preparer makes changes that append messages of a kibibyte each, of the same words.
func preparer(t *testing.T, s store.Store, k *talk) func() func() error {
	t.Helper()
	parts := k.next(kibibyte).Messages[0].Parts
	return func() func() error {
		change := k.next(0)
		change.Messages[0].Parts = parts
		return func() error {
			err := s.Commit(t.Context(), k.key, change)
			k.head = change.Head
			return err
		}
	}
}

func grower(t *testing.T, s store.Store, k *talk) func() error {
	t.Helper()
	prepare := preparer(t, s, k)
	return func() error { return prepare()() }
}

func ratio(t *testing.T, what string, times []time.Duration, most float64) {
	t.Helper()
	r := float64(times[0]) / float64(times[1])
	t.Logf("%s: %v, bare %v: %.2f", what, times[0], times[1], r)
	if r > testlane.Bar(most) {
		t.Errorf("%s is %.2f times the bare one, at most %.2f", what, r, most)
	}
}

const callers = 64

func many(t *testing.T, s *redis.Store, c *driver.Client) {
	t.Helper()
	var ours, bares [callers]func() error
	for i := range callers {
		k, b := newTalk(100+i), newBare(t, c, 100+i, kibibyte)
		ours[i] = grower(t, s, k)
		bares[i] = func() error { return b.append(t.Context()) }
	}
	var best [2]float64
	for range 12 {
		for i, ways := range []*[callers]func() error{&ours, &bares} {
			best[i] = max(best[i], throughput(t, ways))
		}
	}
	t.Logf("64 callers: %.0f/s, bare %.0f/s: %.2f", best[0], best[1], best[0]/best[1])
	if best[1] > testlane.Bar(1/barCallers)*best[0] {
		t.Errorf("64 callers make less than %.2f of the bare script", barCallers)
	}
}

func throughput(t *testing.T, ways *[callers]func() error) float64 {
	t.Helper()
	var n atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for _, way := range ways {
		running.Go(func() {
			for time.Since(began) < 250*time.Millisecond {
				if err := way(); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	running.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}
