package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/retention"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// repeatAppend answers a retry with the first outcome.
func (as *Service) repeatAppend(ctx context.Context, key store.Key, o *store.Outcome, variants bool) (*AppendResult, error) {
	snap, err := as.Txn.Read(ctx, key, store.Query{Info: true, Ranges: []store.MessageRange{
		{Range: conversation.Range{First: o.FirstIndex, End: o.FirstIndex + o.Count}},
	}})
	if err != nil {
		return nil, err
	}
	edits, err := as.enteringEdits(ctx, key, snap)
	if err != nil {
		return nil, err
	}
	r := appended(snap.Messages, edits, o.Revision, true)
	r.Calls = openCalls(snap.Messages, snap.Info.Policy.Or(as.Defaults).RecallTools())
	if err := as.wholeCalls(ctx, key, snap.Head.Incarnation, r.Calls); err != nil {
		return nil, err
	}
	if !variants {
		return r, nil
	}
	whole := slices.Clone(snap.Messages)
	for i := range whole {
		if whole[i].Parts, err = as.Blobs.Inline(ctx, key, snap.Head.Incarnation, whole[i].Parts); err != nil {
			return nil, err
		}
		expiry.ShowInForce(&whole[i], snap.Info.Policy.Or(as.Defaults).Expiration.Results)
	}
	r.variants(whole)
	return r, nil
}

func (r *AppendResult) variants(whole []conversation.Message) {
	for i := range whole {
		r.Display = append(r.Display, retention.Variant(&whole[i], false))
		r.Persistent = append(r.Persistent, retention.Variant(&whole[i], true))
	}
}

// appended makes the answer to an append from the messages and the edits by which they entered the view.
func appended(messages []conversation.Message, entered []conversation.Edit, revision int64, duplicate bool) *AppendResult {
	r := &AppendResult{Messages: messages, Revision: revision, Duplicate: duplicate, Citations: make([][]contents.Cited, len(messages))}
	for i := range messages {
		r.Events = append(r.Events, conversation.Event{
			Type: conversation.EventAdded, Turn: messages[i].TurnAdded, Index: messages[i].Index, Last: messages[i].Index, Reason: conversation.ReasonAppended,
		})
	}
	for i := range entered {
		if entered[i].Reason != conversation.ReasonOverCitationThreshold {
			continue
		}
		at := entered[i].Range.First - messages[0].Index
		r.Citations[at] = append(r.Citations[at], contents.CitedFrom(&entered[i].Parts[0].Shown))
	}
	r.Events = append(r.Events, conversation.EventsOf(entered)...)
	return r
}
