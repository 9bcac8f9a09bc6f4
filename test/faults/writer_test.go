package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	writers = 8
	shared  = 3
)

// generation is a set of conversations that live through some rounds: one for each writer, and some that all write to.
type generation struct {
	number  int
	ledgers []*ledger
	// mu guards the ledgers' lists while writers run.
	mu sync.Mutex
}

func newGeneration(number int) *generation {
	g := &generation{number: number}
	for i := range writers + shared {
		g.ledgers = append(g.ledgers, &ledger{
			conversation: fmt.Sprintf("g%d-c%d", number, i), tight: i%2 == 0, cites: i%4 < 2, releases: i%4 == 1, gone: map[string]bool{},
		})
	}
	return g
}

func (g *generation) note(l *ledger, o *op) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.ops = append(l.ops, o)
}

// mortals are the answered calls whose messages expire, while nobody writes.
func (g *generation) mortals() map[*ledger][]*op {
	out := map[*ledger][]*op{}
	for _, l := range g.ledgers {
		for _, o := range l.ops {
			if o.kind == mortal && o.acked {
				out[l] = append(out[l], o)
			}
		}
		out[l] = slices.Clip(out[l]) // each writer appends its own
	}
	return out
}

// writer makes one call after another until the sidecar is gone.
type writer struct {
	number     int
	round      int
	generation *generation
	random     *rand.Rand
	trigger    *trigger
	calls      int
	last       map[*ledger]*op   // the last call of this writer's that was answered
	mortals    map[*ledger][]*op // what was answered that expires: before this round, and to this writer
	kept       map[*ledger]*op   // the last content that this writer stored
	heard      map[*ledger]bool  // this writer has said something
}

// run returns nil when the sidecar is gone, and any other answer that is an error.
func (w *writer) run(ctx context.Context, c *process.Client) error {
	for ctx.Err() == nil {
		l := w.choose()
		if err := w.resend(ctx, c, l); err != nil {
			return gone(err)
		}
		o := w.next(l)
		w.generation.note(l, o)
		w.trigger.sent()
		o.begun = l.clock.Add(1)
		answer, err := o.do(ctx, c)
		if o.declined(err) {
			o.refused = true
			continue
		}
		if err != nil {
			return gone(err)
		}
		w.trigger.acked()
		o.outcome, o.acked, o.done = answer, true, l.clock.Add(1)
		w.last[l] = o
		w.heard[l] = w.heard[l] || o.appends()
		switch o.kind {
		case mortal:
			w.mortals[l] = append(w.mortals[l], o)
		case storing:
			w.kept[l] = o
		case ending:
			err = w.ended(ctx, c, l, o)
		}
		if err != nil {
			return gone(err)
		}
	}
	return nil
}

// ended demands that what was stored for a run is gone with the answer to its end, whether or not the sweeper has come.
func (w *writer) ended(ctx context.Context, c *process.Client, l *ledger, o *op) error {
	k := w.kept[l]
	if k == nil || k.run != o.run || !brief(o.run) {
		return nil
	}
	_, err := c.Stream(ctx, &pb.StreamContentRequest{ConversationId: l.conversation, ContentId: k.handles})
	if process.Reason(err) == "CONTENT_EXPIRED" {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s: run %q was ended, and content %s can be had", l.conversation, o.run, k.handles)
	}
	return err
}

func (w *writer) choose() *ledger {
	if w.random.IntN(2) == 0 {
		return w.generation.ledgers[writers+w.random.IntN(shared)]
	}
	return w.generation.ledgers[w.number]
}

// resend repeats an answered call now and then, while others write.
func (w *writer) resend(ctx context.Context, c *process.Client, l *ledger) error {
	o := w.last[l]
	if o == nil || w.random.IntN(10) > 0 {
		return nil
	}
	got, err := o.do(ctx, c)
	if o.spent(err) {
		return nil // others build meanwhile
	}
	if err == nil && (!got.duplicate || !got.same(o.outcome)) {
		err = fmt.Errorf("%s: request %s was answered %+v, and again %+v", l.conversation, o.request, o.outcome, got)
	}
	return err
}

func (w *writer) next(l *ledger) *op {
	w.calls++
	o := &op{
		conversation: l.conversation, seed: w.random.Uint64(),
		request: fmt.Sprintf("r%d-w%d-%d", w.round, w.number, w.calls),
	}
	o.tight = l.tight
	switch n := w.random.IntN(32); {
	case l.tight && n == 23:
		o.kind = compacting
	case l.tight && n >= 21 && w.last[l] != nil && w.last[l].appends():
		o.kind, o.target = rewinding, w.last[l].first
	case n < 4 && w.heard[l]: // so that there is something to show
		o.kind = building
	case n < 6:
		o.kind = large
	case n < 9:
		o.kind = batch
	case n < 13:
		o.kind = mortal
	case n < 15:
		o.kind = added
	case n < 18 && len(w.mortals[l]) > 0:
		m := w.mortals[l][w.random.IntN(len(w.mortals[l]))]
		o.kind, o.target = restoring, m.first+w.random.Int32N(int32(len(m.messages())))
	case n >= 24:
		o.kind, o.run = []kind{storing, storing, storing, citing, citing, ending, ending, storing}[n-24], runOf(w.random, w.round)
		if k := w.kept[l]; o.kind == ending && k != nil && k.run != "" {
			o.run = k.run
		}
		if n == 31 {
			o.run = "" // it is the conversation's
		}
	default:
		o.kind = single
	}
	return o
}

// gone is nil for the error of a call whose server was killed.
func gone(err error) error {
	if status.Code(err) == codes.Unavailable && process.Reason(err) == "" || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// trigger kills the sidecar from inside a writer, so that nothing but the system's own delay lies between the moment and the
// kill.
type trigger struct {
	kill            func()
	onSent, onAcked atomic.Int64 // how many more to let pass; below 0 never
	acks            atomic.Int64
}

func newTrigger(kill func()) *trigger {
	t := &trigger{kill: kill}
	t.onSent.Store(-1)
	t.onAcked.Store(-1)
	return t
}

func (t *trigger) sent() {
	if t.onSent.Add(-1) == 0 {
		go t.kill()
	}
}

func (t *trigger) acked() {
	t.acks.Add(1)
	if t.onAcked.Add(-1) == 0 {
		t.kill()
	}
}
