// Package histories finds a caller's whole list of messages in a conversation. It reads what pkg/history compares, and remembers how much
// of the last lists is on record.
package histories

import (
	"context"
	"encoding/hex"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/history"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Finder finds lists in the conversations of a store.
type Finder struct {
	store store.Store
	views *view.Loader
}

// New returns a finder.
func New(s store.Store, views *view.Loader) *Finder { return &Finder{store: s, views: views} }

// Request is a whole list.
type Request struct {
	Input *provider.Input
	// KnownCount and KnownSHA256 are the number and the hash of the leading elements that the caller left out.
	KnownCount  int32
	KnownSHA256 string
	// Rewind allows the list to replace the end of the record.
	Rewind bool
	// Hide allows the list to lack messages of the record.
	Hide bool
}

// Found says where a list goes on.
type Found struct {
	// Messages are those to append. Elements holds, for each of them, the input element that it begins with.
	Messages []conversation.Message
	Elements []int
	Count    int32
	SHA256   string // lower-case hexadecimal
	Matched  int32
	// Rewind is the message from which on the record is to be taken back first; -1 for none.
	Rewind int32
	// TakeOut are messages that the list lacks. PutBack are messages that it holds again after an earlier list lacked them.
	TakeOut, PutBack []conversation.Range
	// Loaded is the part of the conversation that was read.
	Loaded *view.Loaded
	// Known is set if the list is the last one remembered.
	Known bool
	// LacksSystem is set if the elements that the caller left out begin with system messages that are not on record.
	LacksSystem bool

	system bool // system messages lead the list
	marks  []record.HistoryMark
	hash   [32]byte
	leads  bool                    // system messages lead the elements that were sent
	places []history.Place         // places of the recorded messages
	madeUp map[int32]bool          // elements that hold something which a format has added
	rest   []provider.InputMessage // the part of the list that Messages are made from
	list   []provider.InputMessage // the part of the list that was compared
}

// Find finds a list in a conversation. snap must hold the slots of builds.
func (f *Finder) Find(ctx context.Context, key store.Key, snap *store.Snapshot, r *Request) (*Found, error) {
	c, err := chainOf(r, snap)
	if err != nil {
		return nil, err
	}
	w := view.New(key, snap)
	out := &Found{
		Count: c.count, SHA256: hex.EncodeToString(c.sum[:]), Loaded: w, marks: c.marks, hash: c.keyed(snap.Head.Incarnation, c.sum),
		leads: r.Input.Leads && r.KnownCount == 0,
	}
	out.Known = len(c.marks) > 0 && c.marks[0].Count == c.count && c.marks[0].Hash == out.hash && c.marks[0].Placed
	if out.LacksSystem = r.KnownCount > 0 && c.known.System; r.Input.Leads {
		system, err := f.System(ctx, key, snap, r.Input)
		if err != nil {
			return nil, err
		}
		out.system = system != ""
	}
	cmp := &comparison{finder: f, request: r, chain: c, loaded: w, snap: snap}
	from, known := c.start(r.Input.Messages, snap.Head.LeadingSystem)
	spares := known > 0 && r.KnownCount == 0 // the prefix was sent, so it can also be compared: it may be that of a view, or of an edited list
	if spares && answersBefore(c.after(r.Input.Messages, known)) {
		from, known, spares = snap.Head.LeadingSystem, 0, false
	}
	reading, err := cmp.read(ctx, from, known, !spares)
	if spares && differs(err) {
		known = 0
		reading, err = cmp.read(ctx, snap.Head.LeadingSystem, 0, true)
	}
	if err != nil {
		return nil, err
	}
	out.takeReading(reading, c.before)
	out.list, out.places, out.madeUp = c.after(r.Input.Messages, known), reading.Places, reading.MadeUp
	if known > 0 {
		out.places = append(unpackPlaces(c.placesOf(known), int32(known)), reading.Places...)
	}
	return out, nil
}

// answersBefore reports whether a result of a list answers a call that comes before the list. The record may know that call under another
// id.
func answersBefore(list []provider.InputMessage) bool {
	calls := map[string]bool{}
	for i := range list {
		for _, p := range list[i].Parts {
			switch {
			case p.Call != nil:
				calls[p.Call.CallID] = true
			case p.Result != nil && !calls[p.Result.CallID]:
				return true
			}
		}
	}
	return false
}

func differs(err error) bool {
	kind := conversation.KindOf(err)
	return kind == conversation.HistoryDiverged || kind == conversation.HistoryAmbiguous
}

// comparison is a list and the record in which it is looked for.
type comparison struct {
	finder  *Finder
	request *Request
	chain   *chain
	loaded  *view.Loaded
	snap    *store.Snapshot
}

// read finds the list behind its first known elements in the record from message from on. may says whether the list may differ, within what
// the request allows.
func (x *comparison) read(ctx context.Context, from int32, known int, may bool) (*history.Reading, error) {
	f, w, head := x.finder, x.loaded, &x.snap.Head
	if from < head.Messages {
		if err := w.Load(ctx, f.store, conversation.Range{First: from, End: head.Messages}); err != nil {
			return nil, err
		}
	}
	contents := f.contents(ctx, w.Key, x.snap)
	q := &history.Query{
		List: x.chain.after(x.request.Input.Messages, known), Elements: int(x.chain.count), Record: entriesOf(w, from), Known: known > 0,
		Rewind: may && x.request.Rewind, Hide: may && x.request.Hide, Contents: contents,
	}
	if known == 0 && head.ManifestSeq > 0 {
		q.Views = f.shownViews(ctx, w, q.Record)
	}
	reading, err := history.Find(q)
	if contents.err != nil {
		return nil, txn.Failure(contents.err)
	}
	return reading, err
}

// takeReading copies the result of a reading. Its parts belong to the list, which another try reads again.
func (x *Found) takeReading(r *history.Reading, before int32) {
	x.Matched, x.Rewind, x.rest = int32(r.Matched), r.Rewind, r.Rest
	x.TakeOut, x.PutBack = rangesOf(r.TakeOut), rangesOf(r.PutBack)
	for i := range r.Rest {
		m := r.Rest[i].Message
		m.Parts = conversation.CloneParts(m.Parts)
		x.Messages = append(x.Messages, m)
		x.Elements = append(x.Elements, r.Rest[i].First-int(before))
	}
}

func rangesOf(messages []int32) []conversation.Range {
	if len(messages) == 0 {
		return nil
	}
	out := make([]conversation.Range, len(messages))
	for i, index := range messages {
		out[i] = conversation.Range{First: index, End: index + 1}
	}
	return conversation.MergeRanges(out)
}

// Moves reports whether the list takes messages out of the view or puts some back.
func (x *Found) Moves() bool { return len(x.TakeOut)+len(x.PutBack) > 0 }

// maxMarks is how many lists are remembered: the last one, those of callers that take turns, and one that an edited list goes back to.
const maxMarks = 4

// Changes reports whether the list changes what is on record, or how it is shown. All other remembered lists are void then.
func (x *Found) Changes() bool { return x.Rewind >= 0 || x.Moves() }

// Slot returns the slot value that remembers the list. messages is the length of the record then, and places are where its messages stand
// in the list.
func (x *Found) Slot(messages int32, places []history.Place, stored []byte) []byte {
	marks := []record.HistoryMark{{
		Count: x.Count, Hash: x.hash, Messages: messages, System: x.system || x.LacksSystem, Placed: true, Places: packPlaces(places),
	}}
	for _, m := range x.marks {
		if same := m.Count == x.Count && m.Hash == x.hash; !x.Changes() && !same && len(marks) < maxMarks {
			marks = append(marks, m)
		}
	}
	return encodeMarks(marks, stored)
}
