package appends

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Pending is an append that its caller commits as part of a larger change. It must be closed.
type Pending struct {
	attempt *attempt
	change  *store.Change // the change of the last plan; nil if there is nothing to commit
}

// Begin begins an append that its caller commits. A dry one stages nothing and must not be committed.
func (as *Service) Begin(r AppendRequest, dry bool) *Pending {
	return &Pending{attempt: as.begin(r, dry)}
}

func (as *Service) begin(r AppendRequest, dry bool) *attempt {
	a := &attempt{
		service: as, request: r, staging: staging{service: as, key: r.Key, fresh: as.IDs(), dry: dry},
		former: &conversations.FormerRequests{}, handles: map[blockAt]conversation.ID{},
	}
	for i := range r.Extras {
		r.Messages[i].Parts = retention.Layout(r.Messages[i].Parts, r.Extras[i].Additions)
	}
	return a
}

// close discards what was staged unless a commit may refer to it.
func (a *attempt) close(ctx context.Context) {
	if !a.mayStand {
		a.staging.discard(ctx)
	}
}

// Close discards what was staged unless a commit may refer to it.
func (p *Pending) Close(ctx context.Context) { p.attempt.close(ctx) }

// Open returns the head of the conversation that the append will create. If the conversation exists by now, that is a conflict.
func (p *Pending) Open(ctx context.Context) (*store.Snapshot, error) {
	snap, err := p.attempt.read(ctx)
	if err == nil && snap.Head.Version > 0 {
		err = store.ErrConflict
	}
	return snap, err
}

// CheckFormer refuses the retry of a request from before the conversation began anew.
func (p *Pending) CheckFormer(ctx context.Context, head *store.Head) error {
	p.attempt.after, p.attempt.former = 0, &conversations.FormerRequests{}
	return p.attempt.service.Conversations.CheckFormer(ctx, p.attempt.request.Key, head, conversations.AppendRequests, p.attempt.request.Request.ID)
}

// Plan decides where the messages go. It may be called again with another snapshot, which replaces the earlier plan. The change is nil if
// there is nothing to record.
func (p *Pending) Plan(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	var err error
	p.change, err = p.attempt.planAll(ctx, snap)
	return p.change, err
}

// System returns the system prompt of a whole list, without the part that is already at the start of the record; empty for none.
func (p *Pending) System(ctx context.Context, snap *store.Snapshot) (string, error) {
	if p.attempt.request.History == nil {
		return "", nil
	}
	return p.attempt.service.histories.System(ctx, p.attempt.request.Key, snap, p.attempt.request.History.Input)
}

// LacksSystem reports whether the leading elements that the caller left out held a system prompt that is not on record.
func (p *Pending) LacksSystem() bool { return p.attempt.found != nil && p.attempt.found.LacksSystem }

// Texts are the staged contents, by id. The store does not return them before the commit.
func (p *Pending) Texts() map[conversation.ID]string {
	out := map[conversation.ID]string{}
	for i := range p.attempt.staging.messages {
		whole := conversation.Contents(p.attempt.request.Messages[i].Parts)
		for at, c := range conversation.Contents(p.attempt.staging.messages[i].Parts) {
			if c.Ref != nil {
				out[c.Ref.ID] = whole[at].Inline
			}
		}
	}
	for text, ref := range p.attempt.staging.shown {
		out[ref.ID] = text
	}
	return out
}

// Result is the outcome of the last plan. revision is the one that the commit makes.
func (p *Pending) Result(revision int64) *AppendResult {
	if p.change == nil {
		return &AppendResult{Revision: revision, History: p.attempt.found.result()}
	}
	return p.attempt.outcome(p.change, revision)
}

// Committed is told the outcome of the commit.
func (p *Pending) Committed(err error) {
	p.attempt.mayStand = p.attempt.mayStand || txn.MayStand(err)
	if err == nil && p.change != nil {
		p.attempt.committed(p.change)
	}
}

// MayStand reports whether the messages are on record, or may be.
func (p *Pending) MayStand() bool { return p.attempt.mayStand }

// Repeat answers a retry with the first outcome.
func (p *Pending) Repeat(ctx context.Context, o *store.Outcome) (*AppendResult, error) {
	return p.attempt.repeat(ctx, o, false)
}
