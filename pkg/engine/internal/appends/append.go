package appends

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/conversations"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Append puts messages on record, all or nothing, in order. A conversation that does not exist is created.
func (as *Service) Append(ctx context.Context, r AppendRequest) (result *AppendResult, err error) {
	err = as.WithSuccessors(ctx, r, false, func(r AppendRequest) error {
		a := as.begin(r, false)
		defer a.close(ctx)
		err := as.Txn.Do(ctx, r.Key, func() error { return a.tryOnce(ctx) })
		result = a.result
		return err
	})
	return result, err
}

// attempt is one append. It keeps its state while it decides again after conflicts.
type attempt struct {
	service *Service
	request AppendRequest
	staging staging
	after   uint64                        // the version of the deleted conversation that this one replaces; 0 if there is none
	former  *conversations.FormerRequests // the requests of that one that must be remembered

	guessed  bool // the guess was made: only the first try may do without a read
	weighed  bool
	given    []givenSettings // by message
	resolved bool
	policies expiry.Policies         // the namespace's, when they were resolved
	policy   conversation.Expiration // the conversation's, for results
	inForce  conversation.Policy
	mayStand bool // a commit refers to the uploads, or may
	cited    *citationPlan
	embedded map[blockAt]conversation.Part // what the view shows for texts that hold base64 bytes
	found    *foundHistory                 // what the last plan found of a whole list; nil for no list
	handles  map[blockAt]conversation.ID   // see citationPlan
	result   *AppendResult
}

// tryOnce tries once. An outcome that rests on a guess is final if its commit stands or may stand. After any other outcome, the
// conversation is read and the append is decided again.
func (a *attempt) tryOnce(ctx context.Context) error {
	if snap := a.guess(ctx); snap != nil {
		err := a.decide(ctx, snap)
		if err == nil || a.mayStand {
			return err
		}
		a.service.Recent.Forget(a.request.Key)
		a.startOver(ctx)
		return store.ErrConflict // whatever the error was: the read decides
	}
	snap, err := a.read(ctx)
	if err != nil {
		return err
	}
	return a.decide(ctx, snap)
}

// startOver drops what was derived from a wrong guess: the counter, the calls and the policy may be different.
func (a *attempt) startOver(ctx context.Context) {
	a.staging.discard(ctx)
	a.weighed, a.resolved = false, false
	for i, given := range a.given {
		m := &a.request.Messages[i]
		m.Expiration, m.Importance = given.message.expiration, given.message.importance
		for p, of := range given.results {
			m.Parts[p].Result.Expiration, m.Parts[p].Result.Importance = of.expiration, of.importance
		}
	}
	a.given = nil
}

// guess returns what this process remembers of the conversation. It is only used on the first try, and only for a request without a
// request id and without a whole list.
func (a *attempt) guess(ctx context.Context) *store.Snapshot {
	if a.guessed || a.request.Request.ID != "" || a.request.History != nil {
		return nil
	}
	a.guessed, a.former = true, &conversations.FormerRequests{}
	snap := a.service.Recent.Guess(a.request.Key)
	if snap == nil || a.service.Txn.Live(&snap.Head) != nil || !actors.Speaks(ctx, cmp.Or(snap.Head.ActorID, snap.Info.ActorID)) {
		return nil
	}
	return snap
}

// decide places the messages at the end of the conversation and commits.
func (a *attempt) decide(ctx context.Context, snap *store.Snapshot) error {
	first, err := a.service.Txn.Recall(snap, a.request.Request)
	if err != nil {
		return err
	}
	if first != nil {
		a.result, err = a.repeat(ctx, first, a.request.Variants)
		return err
	}
	change, err := a.planAll(ctx, snap)
	if err != nil {
		return err
	}
	if change == nil {
		a.result = &AppendResult{Revision: snap.Head.Revision, History: a.found.result()}
		return nil
	}
	err = a.service.Txn.Commit(ctx, a.request.Key, &snap.Head, change)
	a.mayStand = txn.MayStand(err)
	if err != nil {
		return err
	}
	a.committed(change)
	a.result = a.outcome(change, change.Head.Revision)
	if a.request.Variants {
		a.result.variants(a.whole())
	}
	return nil
}

// planAll decides what to commit; nil if there is nothing. For a whole list it first finds what the list adds.
func (a *attempt) planAll(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	if a.request.History != nil {
		return a.planHistory(ctx, snap)
	}
	if a.request.isEmpty(&snap.Head) {
		return nil, a.request.expected(snap.Head.Messages)
	}
	return a.plan(ctx, snap)
}

// committed tells the memory what a commit changed.
func (a *attempt) committed(c *store.Change) {
	if a.found != nil && len(a.found.before) > 0 {
		a.service.Memories.Edited(a.request.Key, a.found.before)
	}
	if len(c.Messages) > 0 {
		a.service.Memories.Appended(a.request.Key, &c.Head, &a.inForce, c.Messages)
	}
}

// outcome is the result of the append that a change makes.
func (a *attempt) outcome(c *store.Change, revision int64) *AppendResult {
	before, edits := a.found.split(c.Edits)
	r := appended(c.Messages, edits, revision, false)
	r.Events = append(conversation.EventsOf(before), r.Events...)
	r.History = a.found.result()
	r.Calls = openCalls(c.Messages, a.inForce.RecallTools())
	inlineArguments(r.Calls, c.Head.Messages-int32(len(c.Messages)), a.staging.messages, a.request.Messages)
	return r
}

// inlineArguments replaces stored arguments of calls, which refer to chunks, by the inline arguments of the request. The messages are the same
// in staged and in given, and get indexes from first on.
func inlineArguments(calls []OpenCall, first int32, staged, given []conversation.Message) {
	for i := range calls {
		if calls[i].Call.Arguments.Ref == nil {
			continue
		}
		at := calls[i].Message - first
		for p := range staged[at].Parts {
			if c := staged[at].Parts[p].Call; c != nil && c.Ordinal == calls[i].Call.Ordinal {
				calls[i].Call.Arguments = given[at].Parts[p].Call.Arguments
			}
		}
	}
}

// whole returns the messages as recorded, with their contents inline.
func (a *attempt) whole() []conversation.Message {
	out := slices.Clone(a.staging.messages)
	for i := range out {
		out[i].Parts = a.request.Messages[i].Parts
		expiry.ShowInForce(&out[i], a.policy)
	}
	return out
}

// read reads the conversation, or makes up the head of the one that the append will create.
func (a *attempt) read(ctx context.Context) (*store.Snapshot, error) {
	key, id := a.request.Key, a.request.Request.ID
	a.after, a.former = 0, &conversations.FormerRequests{}
	q := store.Query{Info: true, Request: a.request.Request.Key()}
	if a.request.History != nil {
		q.SlotsOf = view.BuildSlots
	}
	snap, err := a.service.Store.Read(ctx, key, q)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a.newConversation(ctx), nil
	case err != nil:
		return nil, err
	}
	gone := a.service.Txn.Live(&snap.Head)
	if gone == nil {
		return snap, a.service.Conversations.CheckFormer(ctx, key, &snap.Head, conversations.AppendRequests, id)
	}
	if !snap.Head.Reusable {
		return nil, gone
	}
	if a.former, err = a.service.Conversations.BeginAnew(ctx, key, &snap.Head); err != nil {
		return nil, err
	}
	if a.former.Incomplete {
		return nil, gone
	}
	if a.former.Has(conversations.AppendRequests, id, a.service.Txn.Now()) {
		return nil, conversations.RetryOfFormer()
	}
	a.after = snap.Head.Version
	return a.newConversation(ctx), nil
}

// newConversation makes up a snapshot of a conversation that is not stored yet: its version is 0.
func (a *attempt) newConversation(ctx context.Context) *store.Snapshot {
	head := txn.NewHead(a.staging.fresh, a.service.Txn.Now())
	head.Former = a.former.Until()
	head.NextDue = head.Former
	info := a.request.Begins
	if info == nil {
		info = actors.NewInfo(ctx)
	}
	head.ActorID = info.ActorID
	return &store.Snapshot{Head: head, Info: info}
}

// plan decides the places of the messages, and the head after them.
func (a *attempt) plan(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	head := snap.Head
	if err := a.request.expected(head.Messages); err != nil {
		return nil, err
	}
	if err := a.weigh(ctx, snap.Info); err != nil {
		return nil, err
	}
	if err := a.resolve(ctx, &head, snap.Info); err != nil {
		return nil, err
	}
	now := a.service.Txn.Now()
	c := &store.Change{Expect: head.Version, Head: txn.NextHead(head, now)}
	c.Head.Revision++
	c.Head.Unanswered = append([]store.Call(nil), head.Unanswered...)
	c.Head.Pins = append([]conversation.Range(nil), head.Pins...)
	if head.Version == 0 {
		c.Info, c.Expect, c.Head.Version = snap.Info, a.after, a.after+1
	}
	if err := a.findCited(ctx, snap); err != nil {
		return nil, err
	}
	if err := a.staging.stage(ctx, head.Incarnation, a.request.Messages, a.cited); err != nil {
		return nil, err
	}
	for i := range a.staging.messages {
		if err := a.place(&c.Head, i, now); err != nil {
			return nil, err
		}
	}
	c.Messages, c.Uploads = a.staging.messages, a.staging.uploads
	txn.AddBytes(&c.Head, txn.GivenBytes(c))
	if err := a.service.scheduleErasures(ctx, a.request.Key, c); err != nil {
		return nil, err
	}
	if err := a.cite(ctx, c); err != nil {
		return nil, err
	}
	if err := a.replaceBytes(ctx, c); err != nil {
		return nil, err
	}
	a.former.AddTo(c)
	keepUsage(c, a.request.Usage)
	policy := snap.Info.Policy.Or(a.service.Defaults)
	txn.RenewTTL(&c.Head, policy, now)
	a.inForce = policy
	a.service.Memories.NoteAppend(ctx, &c.Head, &policy)
	txn.Remember(c, a.request.Request, store.Outcome{
		FirstIndex: head.Messages, Count: int32(len(c.Messages)), Revision: c.Head.Revision,
	})
	return c, nil
}

// keepUsage stores what the provider reported for the last build until the next build counts it.
func keepUsage(c *store.Change, u *provider.Usage) {
	if u != nil && c.Head.ManifestSeq > 0 && u.Context() > 0 {
		if c.Slots == nil {
			c.Slots = make(map[string][]byte)
		}
		c.Slots[view.KeptUsageSlot] = view.KeepUsage(c.Head.ManifestSeq, *u)
	}
}

// weigh counts the messages once, on the first try: a conversation's counter never changes.
func (a *attempt) weigh(ctx context.Context, info *store.Info) error {
	if a.weighed {
		return nil
	}
	counter, err := a.service.Views.Counter(info.Counter)
	if err != nil {
		return err
	}
	for i := range a.request.Messages {
		m := &a.request.Messages[i]
		media, err := a.service.Catalogues.MediaTokens(ctx, a.request.Key.Namespace, m.Model)
		if err != nil {
			return err
		}
		placement.Scale{Counter: counter, Media: media}.Weigh(m)
	}
	a.weighed = true
	return nil
}

// place gives a message its index, and updates the head for it.
func (a *attempt) place(head *store.Head, i int, now time.Time) error {
	m := &a.staging.messages[i]
	m.Index = head.Messages
	m.CreateTime, m.TurnAdded, m.Commit = now, head.Turn, head.Version
	m.RequestID = a.request.Request.ID
	if a.request.Messages[i].ID == "" { // the engine makes this id; an earlier try may have used another index
		m.ID = "m" + strconv.Itoa(int(m.Index))
	}
	pair := placement.Pair
	if a.found.isCut(i) {
		pair = placement.PairCut
	}
	if err := pair(head, m, a.request.field(i)); err != nil {
		return err
	}
	if err := placement.Admit(head, m); err != nil {
		return err
	}
	head.Messages++
	head.Tokens += int64(m.Tokens)
	return nil
}
