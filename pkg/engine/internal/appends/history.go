package appends

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/histories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// History is a caller's whole list of messages. The messages already on record are found in it; the rest is appended.
type History struct {
	Input *provider.Input
	// KnownCount is the number of leading elements that the caller left out because an earlier call sent them, and KnownSHA256 is their
	// hash. They are 0 and empty if nothing was left out.
	KnownCount  int32
	KnownSHA256 string // lower-case hexadecimal
	Divergence  OnDivergence
	// Override applies to each message that is appended; nil for none.
	Override *conversation.ExpirationOverride
	Cut      OnCut
	// ByPlace asks for the view by places in the list: which elements of it each piece of the view stands for.
	ByPlace bool
}

// OnDivergence says what to do where a whole list differs from the record. The numbers are those of the API.
type OnDivergence int8

// What to do where a list differs from the record.
const (
	DivergenceUnspecified OnDivergence = iota // same as DivergenceRefuse
	DivergenceRefuse
	DivergenceRewind
	DivergenceNew // same as DivergenceRewind, but a list with another beginning starts another conversation
)

// OnCut says what to do with recorded messages that a whole list no longer holds. The numbers are those of the API.
type OnCut int8

// What to do with messages that a list lacks.
const (
	CutUnspecified OnCut = iota // same as CutKeep
	CutKeep
	CutHide
)

// HistoryResult says how a whole list was read.
type HistoryResult struct {
	KnownCount  int32
	KnownSHA256 string             // lower-case hexadecimal
	Matched     int32              // number of elements that are already on record, or stand for nothing
	Rewound     conversation.Range // the messages that were taken back; empty if none were
	// Removed are the messages that were taken out of the view because the list no longer holds them.
	Removed []conversation.Range
	// Conversation is the conversation that holds the list now: the one of the request, or one that continues it.
	Conversation string
	// Places locate the recorded messages in the list.
	Places []histories.Place
	// Leading is the number of system messages at the start of the list.
	Leading int32
	// View is the view by place, if that was asked for.
	View []ViewPiece
}

// foundHistory is what one try found of a whole list.
type foundHistory struct {
	*histories.Found
	rewound conversation.Range
	before  []conversation.Edit // edits that bring the record to the state from which the list goes on
	cut     int                 // number of messages to append that come before the list's first assistant message
	places  []histories.Place
}

// result describes how the list was read; nil for no list.
func (f *foundHistory) result() *HistoryResult {
	if f == nil {
		return nil
	}
	return &HistoryResult{
		KnownCount: f.Count, KnownSHA256: f.SHA256, Matched: f.Matched, Rewound: f.rewound, Conversation: f.Loaded.Key.Conversation,
		Removed: f.TakeOut, Places: f.places, Leading: f.Leading(f.places),
	}
}

// isCut reports whether a result of message i may lack its call because the front of the list was cut off.
func (f *foundHistory) isCut(i int) bool { return f != nil && i < f.cut }

// beforeAssistant counts the messages to append that come before the first assistant message. It is only meaningful for a list that was
// sent from its beginning.
func beforeAssistant(h *History, elements []int) int {
	at := slices.IndexFunc(h.Input.Messages, func(m provider.InputMessage) bool { return m.Role == conversation.RoleAssistant })
	if h.KnownCount > 0 {
		return 0
	}
	if at < 0 {
		return len(elements)
	}
	n := 0
	for n < len(elements) && elements[n] < h.Input.Messages[at].First {
		n++
	}
	return n
}

// split separates the edits of a change: first those that bring the record to the state from which the list goes on, then those of the
// appended messages.
func (f *foundHistory) split(edits []conversation.Edit) (before, appended []conversation.Edit) {
	if f == nil {
		return nil, edits
	}
	return edits[:len(f.before)], edits[len(f.before):]
}

// planHistory decides what a whole list adds, and takes back what it differs from. It starts anew with each try.
func (a *attempt) planHistory(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	a.startOver(ctx)
	a.found, a.request.Messages = nil, nil
	h := a.request.History
	found, err := a.service.histories.Find(ctx, a.request.Key, snap, h.sought(h.Divergence >= DivergenceRewind))
	if err != nil {
		return nil, err
	}
	a.found = &foundHistory{Found: found, cut: beforeAssistant(h, found.Elements)}
	a.request.Messages, a.request.Fields = found.Messages, fieldsOf(found.Elements)
	a.request.Extras = slices.Repeat([]AppendExtra{{Override: h.Override}}, len(found.Messages))
	a.found.places = found.Places(snap.Head.Messages)
	if len(found.Messages) == 0 && !found.Changes() && a.request.isEmpty(&snap.Head) && (snap.Head.Version == 0 || found.Known && a.request.Request.ID == "") {
		return nil, a.request.expected(snap.Head.Messages)
	}
	first, err := a.rewindFor(ctx, snap)
	if err == nil {
		first, err = a.moveFor(ctx, first)
	}
	if err != nil {
		return nil, err
	}
	c, err := a.planBehind(ctx, snap, first)
	if err != nil {
		return nil, withoutPrefix(h, err)
	}
	if c.Slots == nil {
		c.Slots = map[string][]byte{}
	}
	if len(c.Messages) == 0 && first == nil {
		c.Head.Revision = snap.Head.Revision // the public revision stays: nobody sees a difference
	}
	c.Slots[view.HistorySlot] = found.Slot(c.Head.Messages, a.found.places, snap.Slots[view.HistorySlot])
	if o := c.Outcome; o != nil {
		o.Matched, o.Rewound, o.Removed = found.Matched, a.found.rewound, found.TakeOut
	}
	return c, nil
}

// withoutPrefix asks for the whole list if a result of the tail answers a call that the record knows under another id.
func withoutPrefix(h *History, err error) error {
	if h.KnownCount == 0 || conversation.KindOf(err) != conversation.ResultWithoutCall {
		return err
	}
	return conversation.Errorf(conversation.HistoryPrefixUnknown, "the call that a result of the list answers was left out with its first elements: send the whole list").Because(err)
}

// rewindFor takes back the recorded messages that the list differs from; nil if there are none.
func (a *attempt) rewindFor(ctx context.Context, snap *store.Snapshot) (*store.Change, error) {
	if a.found.Rewind < 0 {
		return nil, nil
	}
	first, err := a.service.Rewind(ctx, a.found.Loaded, a.found.Rewind)
	if err != nil {
		return nil, err
	}
	a.found.before, a.found.rewound = first.Edits, conversation.Range{First: a.found.Rewind, End: snap.Head.Messages}
	return first, nil
}

// moveFor extends the change, which may be nil, so that messages which the list lacks leave the view and those it holds again return.
func (a *attempt) moveFor(ctx context.Context, first *store.Change) (*store.Change, error) {
	if !a.found.Moves() {
		return first, nil
	}
	c, err := a.service.Move(ctx, a.found.Loaded, first, a.found.TakeOut, a.found.PutBack)
	if err == nil {
		a.found.before = c.Edits
	}
	return c, err
}

// planBehind decides what is appended after the change first, and joins both.
func (a *attempt) planBehind(ctx context.Context, snap *store.Snapshot, first *store.Change) (*store.Change, error) {
	if first == nil {
		return a.plan(ctx, snap)
	}
	after := *snap
	after.Head = txn.Pending(first)
	after.Head.Revision = snap.Head.Revision // the two changes are one commit, which moves the revision once
	second, err := a.plan(ctx, &after)
	if err != nil {
		return nil, err
	}
	return txn.Join(first, second), nil
}

// fieldsOf returns the paths of the messages in their list.
func fieldsOf(elements []int) []string {
	out := make([]string, len(elements))
	for i, at := range elements {
		out[i] = fmt.Sprintf("provider_input.json[%d]", at)
	}
	return out
}

// repeat answers a retry with the first outcome.
func (a *attempt) repeat(ctx context.Context, o *store.Outcome, variants bool) (out *AppendResult, err error) {
	out = &AppendResult{Revision: o.Revision, Duplicate: true}
	if o.Count > 0 {
		out, err = a.service.repeatAppend(ctx, a.request.Key, o, variants)
	}
	if h := a.request.History; h != nil && err == nil {
		count, sum := histories.Hash(h.Input.Elements, h.KnownCount, h.KnownSHA256)
		out.History = &HistoryResult{
			KnownCount: count, KnownSHA256: hex.EncodeToString(sum[:]), Matched: o.Matched, Rewound: o.Rewound, Removed: o.Removed,
			Conversation: a.request.Key.Conversation,
		}
		out.History.Places, out.History.Leading, err = a.service.histories.Remembered(ctx, a.request.Key, h.sought(false))
	}
	return out, err
}
