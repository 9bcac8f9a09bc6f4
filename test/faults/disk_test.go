package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// fullSize is the size of a store that is soon full, and fullerSize that of one with room for half of a long content.
const (
	fullSize   = "32MiB"
	fullerSize = "33MiB"
)

// fixture is a sidecar over a folder, and what was acknowledged by it.
type fixture struct {
	t       *testing.T
	folder  string
	sidecar *process.Sidecar
	*process.Client
	ctx    context.Context
	ledger *ledger
}

func newFixture(t *testing.T, flags ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, folder: t.TempDir(), ledger: &ledger{conversation: "c", cites: true, releases: true, gone: map[string]bool{}}}
	f.start(flags...)
	_, err := f.Conversations.CreateConversation(f.ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: f.ledger.conversation, Policy: &pb.Policy{Citations: cites(true)},
	}})
	f.need(err)
	return f
}

// start starts the sidecar, again too.
func (f *fixture) start(flags ...string) {
	f.t.Helper()
	sidecar, err := process.Start(binary, f.folder, flags...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(sidecar.Kill)
	f.call(sidecar)
}

// call makes the fixture's calls go to a sidecar.
func (f *fixture) call(sidecar *process.Sidecar) {
	f.t.Helper()
	client, err := sidecar.Dial()
	if err != nil {
		f.t.Fatal(err)
	}
	f.sidecar, f.Client = sidecar, client
	f.t.Cleanup(f.Client.Close)
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	f.t.Cleanup(cancel)
	f.ctx = ctx
}

func (f *fixture) need(err error) {
	if err != nil {
		f.t.Helper()
		f.t.Fatalf("%v\nthe sidecar wrote:\n%s", err, f.sidecar.Log())
	}
}

// fill makes n calls of a kind, or calls until one is refused, and returns its error.
func (f *fixture) fill(k kind, n int) error {
	r := rand.New(rand.NewPCG(uint64(len(f.ledger.ops)), uint64(k)))
	for i := range n {
		if err := f.make(&op{kind: k, request: fmt.Sprintf("%d-%d-%d", k, len(f.ledger.ops), i), seed: r.Uint64()}); err != nil {
			return err
		}
	}
	return nil
}

// make makes a call, and notes it if it was answered.
func (f *fixture) make(o *op) error {
	o.conversation, o.begun = f.ledger.conversation, f.ledger.clock.Add(1)
	answer, err := o.do(f.ctx, f.Client)
	if err != nil {
		return err
	}
	o.outcome, o.acked, o.done = answer, true, f.ledger.clock.Add(1)
	f.ledger.ops = append(f.ledger.ops, o)
	return nil
}

// roomless stores what a store has room for a half of: it says so, and keeps nothing of it.
func (f *fixture) roomless() {
	f.t.Helper()
	kept := f.rest()
	if err := f.make(&op{kind: storing, request: "too much", seed: long}); process.Reason(err) != "STORE_FULL" {
		f.t.Errorf("a full store answers %v", err)
	}
	if n := f.rest(); n != kept {
		f.t.Errorf("a full store holds %d chunks, and %d after one more content was refused", kept, n)
	}
}

// rest counts the chunks of a full store that is closed for it.
func (f *fixture) rest() int {
	f.t.Helper()
	f.need(f.sidecar.Stop())
	n := chunks(f.t, path(f.folder))
	f.start("--max-store-size", fullerSize)
	return n
}

// TestDisk_StoreFull_IsSaidAndReadingGoesOn fills a store to its limit: what was acknowledged stays, reads go on, nothing is
// half there, and with more room writing goes on.
func TestDisk_StoreFull_IsSaidAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "--max-store-size", fullSize)
	f.need(f.fill(single, 3))
	f.need(f.fill(building, 1))
	f.need(f.make(&op{kind: storing, request: "of a run", run: "brief", seed: long}))
	for _, k := range []kind{large, batch, batch, storing, citing} { // also where a part of a batch, or of a content, would still fit
		err := f.fill(k, 10_000)
		if status.Code(err) != codes.ResourceExhausted || process.Reason(err) != "STORE_FULL" {
			t.Fatalf("a full store answers %v %q", err, process.Reason(err))
		}
		f.need(f.ledger.check(f.ctx, f.Client))
	}
	_, err := f.Context.BuildContext(f.ctx, &pb.BuildContextRequest{ConversationId: "c", DryRun: true})
	f.need(err)
	_, err = f.ledger.rebuild(f.ctx, f.Client)
	f.need(err)
	f.roomless()
	f.need(f.make(&op{kind: ending, request: "end", run: "brief"}))
	f.need(f.ledger.check(f.ctx, f.Client))
	full := len(f.ledger.ops)
	f.need(f.sidecar.Stop())

	f.start("--max-store-size", "96MiB")
	f.need(f.ledger.check(f.ctx, f.Client))
	f.need(f.fill(batch, 5))
	f.need(f.fill(storing, 5))
	f.need(f.make(&op{kind: storing, request: "too much", seed: long}))
	f.need(f.fill(building, 1))
	f.need(f.ledger.check(f.ctx, f.Client))
	t.Logf("%d calls until the store was full, and %d after it had more room", full, len(f.ledger.ops)-full)
}
