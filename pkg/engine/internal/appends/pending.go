package appends

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Pending is an append that somebody else commits, together with what is decided on it. It must be closed.
type Pending struct {
	attempt
	change *store.Change // of the last plan; nil for nothing
}

// Begin begins an append that somebody else commits. A dry one stages nothing, and must not be committed.
func (as *Service) Begin(r AppendRequest, dry bool) *Pending {
	return &Pending{attempt: *as.begin(r, dry)}
}

func (as *Service) begin(r AppendRequest, dry bool) *attempt {
	a := &attempt{service: as, request: r, fresh: as.IDs(), dry: dry, former: &conversations.FormerRequests{}, handles: map[blockAt]conversation.ID{}}
	for i := range r.Extras {
		r.Messages[i].Parts = retention.Layout(r.Messages[i].Parts, r.Extras[i].Additions)
	}
	return a
}

// Close lets go what was staged and no commit refers to.
func (a *attempt) Close(ctx context.Context) {
	if !a.used {
		a.discard(ctx)
	}
}

// Open makes up the conversation that the append creates, where there is none. A conversation that came to be meanwhile is a conflict.
func (p *Pending) Open(ctx context.Context) (*store.Snapshot, error) {
	snap, err := p.read(ctx)
	if err == nil && snap.Head.Version > 0 {
		err = store.ErrConflict
	}
	return snap, err
}

// CheckFormer refuses the retry of a request from before the conversation began anew.
func (p *Pending) CheckFormer(ctx context.Context, head *store.Head) error {
	p.after, p.former = 0, &conversations.FormerRequests{}
	return p.service.Conversations.CheckFormer(ctx, p.request.Key, head, conversations.AppendRequests, p.request.Request.ID)
}

// Plan decides where the messages go. It may be asked again, of another snapshot: what it said before is void then. The change is nil if there
// is nothing to put on record.
func (p *Pending) Plan(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	var err error
	p.change, err = p.planAll(ctx, snap)
	return p.change, err
}

// System is the system prompt that a whole list comes with, beside what the record begins with; empty for none.
func (p *Pending) System(ctx context.Context, snap *store.Snapshot) (string, error) {
	if p.request.History == nil {
		return "", nil
	}
	return p.service.histories.System(ctx, p.request.Key, snap, p.request.History.Input)
}

// LacksSystem says of the list that the last plan found whether the caller left out a system prompt with its front.
func (p *Pending) LacksSystem() bool { return p.found != nil && p.found.LacksSystem }

// Texts are the contents that were staged, by id: the store does not show them before they are committed.
func (p *Pending) Texts() map[conversation.ID]string {
	out := map[conversation.ID]string{}
	for i := range p.staged {
		whole := conversation.Contents(p.request.Messages[i].Parts)
		for at, c := range conversation.Contents(p.staged[i].Parts) {
			if c.Ref != nil {
				out[c.Ref.ID] = whole[at].Inline
			}
		}
	}
	for text, ref := range p.shown {
		out[ref.ID] = text
	}
	return out
}

// Result is the outcome of the last plan, at the revision that the commit makes.
func (p *Pending) Result(revision int64) *AppendResult {
	if p.change == nil {
		return &AppendResult{Revision: revision, History: p.found.result()}
	}
	return p.outcome(p.change, revision)
}

// Committed is told what became of the commit.
func (p *Pending) Committed(err error) {
	p.used = p.used || txn.MayStand(err)
	if err == nil && p.change != nil {
		p.committed(p.change)
	}
}

// MayStand says whether the messages are on record, or may be.
func (p *Pending) MayStand() bool { return p.used }

// Repeat answers a retry with the first outcome.
func (p *Pending) Repeat(ctx context.Context, o *store.Outcome) (*AppendResult, error) {
	return p.repeat(ctx, o, false)
}
