package shared

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/move"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

const (
	// What there is without PALIMPSEST_SOAK says nothing of time.
	fewConversations  = 200
	manyConversations = 10_000
	messagesOfEach    = 100
	// slower is how much slower a build may be in a store of a million messages than in one of a thousand.
	slower = 1.2
)

// TestSoak_MillionMessages_BuildAsFast: what a build takes has nothing to do with how much others have on record. It says too how long a
// store of that size takes to move.
func TestSoak_MillionMessages_BuildAsFast(t *testing.T) {
	conversations, most := fewConversations, 10.0
	if os.Getenv("PALIMPSEST_SOAK") != "" {
		conversations, most = manyConversations, slower
	}
	for name, open := range map[string]func(*testing.T) (store.Store, error){
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), postgres.Options{DSN: dbtest.StartPostgres(t).DSN})
		},
		"redis": func(t *testing.T) (store.Store, error) {
			return redis.Open(t.Context(), redis.Options{URL: "redis://" + dbtest.StartRedis(t).Address})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			fill(t, s, 0, 10)
			few := buildsIn(t, s, 10)
			began := time.Now()
			fill(t, s, 10, conversations)
			t.Logf("%d conversations written in %s", conversations, time.Since(began).Round(time.Second))
			many := buildsIn(t, s, conversations)
			t.Logf("build, p50: %s among 10 conversations, %s among %d (%.2f)", few, many, conversations, float64(many)/float64(few))
			if float64(many) > most*float64(few) {
				t.Errorf("%.2f times, at most %.1f", float64(many)/float64(few), most)
			}
			moveAll(t, s)
		})
	}
}

// fill puts conversations on record, with a hundred messages of a kilobyte each.
func fill(t *testing.T, s store.Store, from, to int) {
	t.Helper()
	var next atomic.Int64
	next.Store(int64(from))
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				if err := s.Commit(context.Background(), store.Key{Namespace: "default", Conversation: fmt.Sprint(i)}, whole(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
}

func whole(n int) *store.Change {
	var id conversation.ID
	binary.BigEndian.PutUint64(id[:], uint64(n+1)*0x9e3779b97f4a7c15)
	now := time.Now().UTC()
	c := &store.Change{
		Head: store.Head{Incarnation: id, Version: 1, Revision: 1, CreateTime: now, UpdateTime: now, Messages: messagesOfEach, UnitStart: messagesOfEach},
		Info: &store.Info{Counter: conversation.DefaultCounter},
	}
	for i := range int32(messagesOfEach) {
		role := conversation.RoleUser
		if i%2 == 1 {
			role = conversation.RoleAssistant
		}
		c.Messages = append(c.Messages, conversation.Message{
			ID: fmt.Sprint("m", i), Index: i, Role: role, Tokens: 250, CreateTime: now, Commit: 1, Parts: []conversation.Part{{
				Kind: conversation.PartText, Tokens: 246, Text: conversation.Content{Inline: fmt.Sprint(n, "/", i, " ") + strings.Repeat("some words of it ", 58)},
			}},
		})
		c.Head.Tokens += 250
	}
	c.Head.Request = messagesOfEach - 2
	return c
}

// buildsIn is the median of cold builds of conversations all over the store.
func buildsIn(t *testing.T, s store.Store, conversations int) time.Duration {
	t.Helper()
	e := engine.New(engine.Options{
		Store: s, Counters: []tokens.Counter{counter{}}, Formats: []provider.Format{openaichat.New()}, Clock: time.Now, OnError: func(err error) { t.Error(err) },
		IDs: func() (id conversation.ID) {
			binary.BigEndian.PutUint64(id[:], uint64(time.Now().UnixNano()))
			return id
		},
	})
	defer e.Close()
	window, none := int32(8000), int32(0)
	var took []time.Duration
	for i := range 400 {
		key := engine.Key{Namespace: "default", Conversation: fmt.Sprint(i * 7919 % conversations)}
		began := time.Now()
		_, err := e.Build(t.Context(), engine.BuildRequest{
			Key: key, Format: conversation.FormatOpenAIChat, Budget: engine.BudgetOverride{ContextWindow: &window, ReservedOutput: &none}, DryRun: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// moveAll says how long a file takes to get the whole.
func moveAll(t *testing.T, s store.Store) {
	t.Helper()
	file, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	began := time.Now()
	report, err := move.Copy(t.Context(), s, file, move.Options{Online: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("moved in %s: %+v", time.Since(began).Round(time.Second), report)
}
