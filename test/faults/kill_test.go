package faults

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	// roundsVariable says how many times the sidecar is killed.
	roundsVariable = "PALIMPSEST_FAULT_ROUNDS"
	defaultRounds  = 4 // each way to kill once
	// roundsOfGeneration is how many kills a conversation lives through: enough to be hit in every state, few enough that it
	// stays small, since all of it is compared after each.
	roundsOfGeneration = 10
)

// campaign is a row of rounds over one data folder.
type campaign struct {
	t      *testing.T
	folder string
	random *rand.Rand
	models *models

	generations []*generation
	acked       int
	retried     int
	builds      int
	lives       tally
	contents    holdings
}

// TestKill_ConcurrentWriters_NothingAcknowledgedIsLost kills the sidecar while 8 writers append and build, and compares what it
// has after the restart with what it had acknowledged.
func TestKill_ConcurrentWriters_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	rounds, seed := roundsOf(t), proptest.Seed(t)
	c := &campaign{t: t, folder: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), models: serveModels(t)}
	begin := time.Now()
	for round := range rounds {
		c.round(round)
	}
	c.last()
	t.Logf("%d rounds in %s, seed %d: %d calls acknowledged, %d in flight retried, %d builds rebuilt, 0 lost, 0 duplicates, %d MiB; %s; %s",
		rounds, time.Since(begin).Round(time.Second), seed, c.acked, c.retried, c.builds, size(t, c.folder)>>20, &c.lives, &c.contents)
	t.Logf("%d calls of the model", c.models.calls.Load())
	if rounds >= 2*roundsOfGeneration && !c.lives.full() {
		t.Errorf("the lives of messages are not tested: %s", &c.lives)
	}
	if rounds >= 2*roundsOfGeneration && !c.contents.full() {
		t.Errorf("contents are not tested: %s", &c.contents)
	}
}

func roundsOf(t *testing.T) int {
	set := os.Getenv(roundsVariable)
	if set == "" {
		return defaultRounds
	}
	n, err := strconv.Atoi(set)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number of rounds: %q", roundsVariable, set)
	}
	return n
}

func size(t *testing.T, folder string) int64 {
	info, err := os.Stat(folder + "/palimpsest.db")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// round starts the sidecar, checks what it has, lets the writers loose and kills it.
func (c *campaign) round(round int) {
	if round%4 == 3 {
		c.killWhileStarting()
	}
	sidecar := c.start()
	if round > 0 {
		c.verify(sidecar)
	}
	if round%roundsOfGeneration == 0 {
		c.generations = append(c.generations, newGeneration(len(c.generations)))
		c.open(sidecar)
	}
	c.write(sidecar, round)
}

// killWhileStarting kills the sidecar before, or just after, it serves.
func (c *campaign) killWhileStarting() {
	sidecar, err := process.Launch(binary, c.folder)
	if err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Duration(c.random.IntN(100)) * time.Millisecond)
	sidecar.Kill()
}

func (c *campaign) start() *process.Sidecar {
	sidecar, err := process.Start(binary, c.folder, c.models.flags()...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(sidecar.Kill)
	return sidecar
}

// dial is what the test itself calls through: errors end the test, because nobody kills the sidecar meanwhile.
func (c *campaign) dial(sidecar *process.Sidecar) (*process.Client, context.Context, func()) {
	client, err := sidecar.Dial()
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	return client, ctx, func() {
		cancel()
		client.Close()
	}
}

func (c *campaign) newest() *generation { return c.generations[len(c.generations)-1] }

// verify compares the newest generation's conversations, sends again what was in flight, and compares once more.
func (c *campaign) verify(sidecar *process.Sidecar) {
	client, ctx, end := c.dial(sidecar)
	defer end()
	for _, l := range c.newest().ledgers {
		c.need(sidecar, l.check(ctx, client))
		retried, err := l.retry(ctx, client)
		c.need(sidecar, err)
		c.retried += retried
		if retried > 0 {
			c.need(sidecar, l.check(ctx, client))
		}
		c.need(sidecar, l.again(ctx, client))
		_, err = l.rebuild(ctx, client)
		c.need(sidecar, err)
	}
}

// open creates the newest generation's conversations: in most, what is due goes at once.
func (c *campaign) open(sidecar *process.Sidecar) {
	client, ctx, end := c.dial(sidecar)
	defer end()
	for i, l := range c.newest().ledgers {
		policy := &pb.Policy{Rewrite: &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER}}
		if i%4 == 3 {
			policy = nil
		}
		if l.cites {
			policy.Citations = cites(l.releases)
		}
		if l.tight {
			policy.Fit = &pb.FitPolicy{MaxContextTokens: new(int32(tightBudget))}
			policy.Compaction = &pb.CompactionPolicy{Strategy: pb.CompactionStrategy(1 + i%4/2), KeepRecent: new(int32(6))}
			policy.MaxWait = durationpb.New(100 * time.Millisecond)
		}
		_, err := client.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: l.conversation, Policy: policy}})
		c.need(sidecar, err)
	}
}

func (c *campaign) need(sidecar *process.Sidecar, err error) {
	if err != nil {
		c.t.Helper()
		c.t.Fatalf("%v\nthe sidecar wrote:\n%s", err, sidecar.Log())
	}
}

// write lets the writers loose until the sidecar is killed.
func (c *campaign) write(sidecar *process.Sidecar, round int) {
	trigger := newTrigger(sidecar.Strike)
	c.arm(trigger, round)
	faults := make([]error, writers)
	known := c.newest().mortals()
	var running sync.WaitGroup
	for i := range writers {
		client, ctx, end := c.dial(sidecar)
		w := &writer{
			number: i, round: round, generation: c.newest(), trigger: trigger, last: map[*ledger]*op{}, mortals: maps.Clone(known), kept: map[*ledger]*op{}, heard: map[*ledger]bool{},
			random: rand.New(rand.NewPCG(c.random.Uint64(), uint64(i))),
		}
		running.Go(func() {
			defer end()
			faults[i] = w.run(ctx, client)
		})
	}
	running.Wait()
	sidecar.Kill()
	c.acked += int(trigger.acks.Load())
	c.need(sidecar, errors.Join(faults...))
}

// arm chooses the moment: right after an answer, while a call is in flight, or at any time.
func (c *campaign) arm(t *trigger, round int) {
	delay := time.Duration(c.random.IntN(3000)) * time.Microsecond
	kill := t.kill
	switch round % 4 {
	case 0:
		t.onAcked.Store(1 + c.random.Int64N(200))
	case 1:
		t.onSent.Store(1 + c.random.Int64N(200))
		t.kill = func() {
			time.Sleep(delay)
			kill()
		}
	default:
		time.AfterFunc(time.Duration(5+c.random.IntN(300))*time.Millisecond, kill)
	}
}

// last starts the sidecar once more and compares everything: all generations, all builds. Half of the conversations are
// deleted then, which must outlive a kill too.
func (c *campaign) last() {
	sidecar := c.start()
	c.verify(sidecar)
	client, ctx, end := c.dial(sidecar)
	defer end()
	for _, g := range c.generations {
		for i, l := range g.ledgers {
			c.need(sidecar, l.check(ctx, client))
			builds, err := l.rebuild(ctx, client)
			c.need(sidecar, err)
			c.builds += builds
			c.lives.add(l)
			c.contents.add(&l.holdings)
			if i%2 == 0 && len(l.ops) > 0 {
				_, err := client.Conversations.DeleteConversation(ctx, &pb.DeleteConversationRequest{ConversationId: l.conversation})
				c.need(sidecar, err)
				l.deleted = true
			}
		}
	}
	sidecar.Kill()
	c.afterDeletion()
}

func (c *campaign) afterDeletion() {
	sidecar := c.start()
	client, ctx, end := c.dial(sidecar)
	defer end()
	for _, g := range c.generations {
		for _, l := range g.ledgers {
			if !l.deleted {
				c.need(sidecar, l.check(ctx, client))
				continue
			}
			_, err := client.Conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: l.conversation})
			if process.Reason(err) != "CONVERSATION_DELETED" {
				c.need(sidecar, errors.Join(errors.New(l.conversation+" was deleted and is back"), err))
			}
		}
	}
	if err := sidecar.Stop(); err != nil {
		c.t.Errorf("the sidecar ended with %v", err)
	}
}
