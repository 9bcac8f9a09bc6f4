package citations

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	crowdCallers       = 16
	crowdActs          = 60 // of each caller
	crowdConversations = 4
	crowdTexts         = 12 // that are stored again and again
)

// mortality is what may happen to a content.
type mortality int

const (
	lasting mortality = iota // nothing ends it
	ofRun                    // it goes with its run
	erased                   // a build erases it with its message
)

// kept is a content that a caller was promised.
type kept struct {
	conversation, handle, run string
	text                      int
	mortality                 mortality
	message                   int32 // -1: StoreContent's
}

// crowd is what many callers do to a few conversations.
type crowd struct {
	*world
	texts  []string
	acts   atomic.Int64
	mu     sync.Mutex
	stored []kept
	over   map[string]bool // runs that were told to end, or are about to be
	gone   atomic.Int64    // times that something was found to be gone
	late   int             // contents whose run was over when they came
	calls  atomic.Int64
}

func conversationOf(n int) string { return fmt.Sprint("crowd-", n) }

func newCrowd(t *testing.T, w *world) *crowd {
	c := &crowd{world: w, over: map[string]bool{}}
	for i := range crowdTexts { // some are stored as chunks, some within their message
		c.texts = append(c.texts, textOf(uint64(i), int64(1500+i%4*15_000)))
	}
	for i := range crowdConversations {
		w.create(t, conversationOf(i), func(p *pb.Policy) { p.Citations.ReleaseOnEndRun = new(i%2 == 1) })
	}
	return c
}

func (c *crowd) promise(k kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored = append(c.stored, k)
}

func (c *crowd) any(r *rand.Rand) (kept, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stored) == 0 {
		return kept{}, false
	}
	return c.stored[r.IntN(len(c.stored))], true
}

// mayBeGone says whether a content may be gone by now.
func (c *crowd) mayBeGone(k kept) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k.mortality == erased || k.mortality == ofRun && c.over[k.conversation+k.run]
}

// run is one of the few runs that are under way: a caller's own, or one that all share.
func (c *crowd) run(r *rand.Rand, caller int) string {
	if r.IntN(2) == 0 {
		return fmt.Sprint("shared-", c.acts.Load()/200)
	}
	return fmt.Sprint("own-", caller, "-", r.IntN(4))
}

// act does one of the things that callers do.
func (c *crowd) act(ctx context.Context, r *rand.Rand, caller int) error {
	c.acts.Add(1)
	n := r.IntN(crowdConversations)
	if r.IntN(2) == 0 {
		n = 0 // one conversation has most of them
	}
	conversation := conversationOf(n)
	switch r.IntN(10) {
	case 0, 1, 2:
		return c.appends(ctx, r, conversation, caller, n%2 == 1)
	case 3, 4:
		return c.stores(ctx, r, conversation, caller)
	case 5, 6:
		return c.retrieves(ctx, r)
	case 7:
		return c.searches(ctx, r, conversation, caller)
	case 8:
		_, err := c.agent.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation, Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC})
		if process.Reason(err) == "NO_MESSAGES" {
			return nil
		}
		return err
	default:
		return c.ends(ctx, r, conversation, caller)
	}
}

func (c *crowd) appends(ctx context.Context, r *rand.Rand, conversation string, caller int, releases bool) error {
	k := kept{conversation: conversation, text: r.IntN(len(c.texts))}
	o := outcome{id: fmt.Sprint("call-", c.calls.Add(1)), tool: "read", arguments: "{}", text: c.texts[k.text]}
	if r.IntN(2) == 0 {
		o.run = c.run(r, caller)
	}
	items := o.exchange()
	if r.IntN(5) == 0 {
		k.mortality = erased
		items[1].Message.GetParts()[0].GetToolResult().Expiration = &pb.Expiration{
			Turns: new(int32(1)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS,
			CompactLength: new(int32(50)), PreserveOriginalContent: new(false),
		}
	} else if releases && o.run != "" {
		k.mortality, k.run = ofRun, o.run
	}
	reply, err := c.agent.BatchAppendMessages(ctx, &pb.BatchAppendMessagesRequest{ConversationId: conversation, Items: items})
	if err != nil {
		return err
	}
	receipt := reply.GetReceipts()[1]
	if len(receipt.GetCitations()) != 1 {
		return fmt.Errorf("a result has %d citations", len(receipt.GetCitations()))
	}
	k.handle, k.message = receipt.GetCitations()[0].GetContentId(), receipt.GetIndex()
	c.promise(k)
	return nil
}

func (c *crowd) stores(ctx context.Context, r *rand.Rand, conversation string, caller int) error {
	k := kept{conversation: conversation, text: r.IntN(len(c.texts)), message: -1}
	if r.IntN(3) > 0 {
		k.mortality, k.run = ofRun, c.run(r, caller)
	}
	reply, err := c.store(ctx, &pb.StoreContentHeader{ConversationId: conversation, RunId: k.run}, bytes.NewReader([]byte(c.texts[k.text])))
	if process.Reason(err) == "RUN_ENDED" && c.mayBeGone(k) {
		return nil
	}
	if err != nil {
		return err
	}
	k.handle = reply.GetCitation().GetContentId()
	c.promise(k)
	return nil
}

func (c *crowd) retrieves(ctx context.Context, r *rand.Rand) error {
	k, ok := c.any(r)
	if !ok {
		return nil
	}
	if r.IntN(3) == 0 {
		found, err := c.excerpts(ctx, k.conversation, k.handle, "line 7")
		for _, x := range found {
			from, to := x.GetByteRange().GetStartIndex(), x.GetByteRange().GetEndIndex()
			if x.GetContentId() != k.handle || c.texts[k.text][from:to] != x.GetText() {
				return fmt.Errorf("an excerpt of content %s is of another", k.handle)
			}
		}
		return c.forgiven(k, err)
	}
	return c.same(ctx, k)
}

// same demands that a content is what was stored, or is gone and may be.
func (c *crowd) same(ctx context.Context, k kept) error {
	got, err := c.text(ctx, k.conversation, k.handle)
	if err == nil && got != c.texts[k.text] {
		return fmt.Errorf("content %s comes back with %d bytes of %d, or others", k.handle, len(got), len(c.texts[k.text]))
	}
	return c.forgiven(k, err)
}

func (c *crowd) forgiven(k kept, err error) error {
	if process.Reason(err) == "CONTENT_EXPIRED" && c.mayBeGone(k) {
		c.gone.Add(1)
		return nil
	}
	if err != nil {
		return fmt.Errorf("content %s of kind %d: %w", k.handle, k.mortality, err)
	}
	return nil
}

func (c *crowd) searches(ctx context.Context, r *rand.Rand, conversation string, caller int) error {
	if r.IntN(2) == 0 {
		_, err := c.conversations.SearchMessages(ctx, &pb.SearchMessagesRequest{ConversationId: conversation, Query: "line 3 ba re"})
		return err
	}
	_, err := c.contents.SearchContent(ctx, &pb.SearchContentRequest{
		ConversationId: conversation, RunId: c.run(r, caller), Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"line 3"}},
	})
	return err
}

func (c *crowd) ends(ctx context.Context, r *rand.Rand, conversation string, caller int) error {
	run := c.run(r, caller)
	return c.end(ctx, conversation, run)
}

func (c *crowd) end(ctx context.Context, conversation, run string) error {
	c.mu.Lock()
	c.over[conversation+run] = true
	c.mu.Unlock()
	_, err := c.contents.EndRun(ctx, &pb.EndRunRequest{ConversationId: conversation, RunId: run, Grace: durationpb.New(0)})
	return err
}

// act lets all callers act, while what is due is swept again and again.
func (c *crowd) live(t *testing.T, acts int) {
	swept := make(chan struct{})
	over, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(swept)
		for over.Err() == nil {
			if err := c.engine.Sweep(over); err != nil && over.Err() == nil && process.Reason(err) == "" && !contended(err) {
				t.Errorf("sweeping: %v", err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	var acting sync.WaitGroup
	for caller := range crowdCallers {
		acting.Go(func() {
			r := rand.New(rand.NewPCG(uint64(caller), 5))
			for range acts {
				if err := c.act(t.Context(), r, caller); err != nil && process.Reason(err) != "CONTENTION" {
					t.Error(err)
					return
				}
			}
		})
	}
	acting.Wait()
	cancel()
	<-swept
}

// settled looks at everything when all have left and all runs are over: what belongs to a run is gone, and nothing else.
func (c *crowd) settled(t *testing.T) {
	t.Helper()
	for _, k := range c.stored {
		if k.mortality == ofRun && !c.over[k.conversation+k.run] {
			if err := c.end(t.Context(), k.conversation, k.run); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 20 { // a sweep may take several commits of a run
		c.sweep(t)
	}
	counts, there := map[mortality]int{}, map[string]map[string]*pb.SourceRecord{}
	for i := range crowdConversations {
		there[conversationOf(i)] = c.sources(t, conversationOf(i))
	}
	for _, k := range c.stored {
		if k.mortality == ofRun && k.message >= 0 && there[k.conversation][k.handle].GetState() == pb.ContentState_CONTENT_STATE_STORED {
			k.mortality = lasting
			c.late++
		}
		counts[k.mortality]++
		if k.mortality == ofRun {
			if _, err := c.text(t.Context(), k.conversation, k.handle); process.Reason(err) != "CONTENT_EXPIRED" {
				t.Errorf("content %s of a run that is over answers %s", k.handle, told(err))
			}
		} else if err := c.same(t.Context(), k); err != nil {
			t.Error(err)
		}
		if k.mortality == lasting && k.message >= 0 {
			c.whole(t, k)
		}
	}
	t.Logf("%d contents lasted, %d of them as they came late, %d went with runs, %d were mortal; %d times one was found gone",
		counts[lasting], c.late, counts[ofRun], counts[erased], c.gone.Load())
	if slices.Contains([]int{counts[lasting], counts[ofRun], counts[erased]}, 0) || c.gone.Load() == 0 {
		t.Error("nothing is tested")
	}
}

// whole demands a message's original.
func (c *crowd) whole(t *testing.T, k kept) {
	t.Helper()
	got := must[*pb.GetMessageResponse](t)(c.conversations.GetMessage(t.Context(), &pb.GetMessageRequest{ConversationId: k.conversation, MessageIndex: k.message}))
	text := got.GetMessage().GetParts()[0].GetToolResult().GetText()
	if sha256.Sum256([]byte(text)) != sha256.Sum256([]byte(c.texts[k.text])) {
		t.Errorf("message %d has %d bytes of %d, or others", k.message, len(text), len(c.texts[k.text]))
	}
}

// TestCrowd_AllAtOnce_LosesNothing lets many callers append, store the same bytes, retrieve, search, build and end runs on a few
// conversations, while what is due is swept.
func TestCrowd_AllAtOnce_LosesNothing(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *world{"memory": newWorld, "bolt": boltWorld} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, open(t))
			acts := crowdActs
			if testing.Short() {
				acts /= 4
			}
			c.live(t, acts)
			c.settled(t)
		})
	}
}
