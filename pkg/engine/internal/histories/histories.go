// Package histories finds a caller's whole list of messages in a conversation: it reads what pkg/history compares, and remembers of the last
// lists how far the record had them.
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

// Finder finds lists in what a store has.
type Finder struct {
	store store.Store
	views *view.Loader
}

// New returns a finder.
func New(s store.Store, views *view.Loader) *Finder { return &Finder{store: s, views: views} }

// Request is a whole list.
type Request struct {
	Input *provider.Input
	// KnownCount and KnownSHA256 are of the elements before those of the input, which the caller left out.
	KnownCount  int32
	KnownSHA256 string
	// Rewind allows the list to take the place of a part of the record.
	Rewind bool
	// Hide allows the list to lack messages of the record.
	Hide bool
}

// Found is where a list goes on.
type Found struct {
	// Messages are to be appended, and Elements say which of the input's each begins with.
	Messages []conversation.Message
	Elements []int
	Count    int32
	SHA256   string // lower-case hexadecimal
	Matched  int32
	// Rewind is the message from which the record is to be taken back before; -1 if nothing is.
	Rewind int32
	// TakeOut are the messages that the list lacks, PutBack those that an earlier one lacked.
	TakeOut, PutBack []conversation.Range
	// Loaded is the conversation as far as it was read.
	Loaded *view.Loaded
	// Known: the list is the last that is remembered.
	Known bool
	// LacksSystem: system messages that are not on record lead what the caller left out.
	LacksSystem bool

	system bool // they lead the list
	marks  []record.HistoryMark
	hash   [32]byte
	leads  bool                    // system messages lead what was sent
	places []history.Place         // of what was on record
	madeUp map[int32]bool          // elements in which something stands that formats have put there
	rest   []provider.InputMessage // that Messages are made of
	list   []provider.InputMessage // that was compared
}

// Find finds a list in a conversation that was read with the slots of builds.
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
	spares := known > 0 && r.KnownCount == 0 // the prefix was sent: it may as well be that of a view, or of a list that was edited
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
	out.take(reading, c.before)
	out.list, out.places, out.madeUp = c.after(r.Input.Messages, known), reading.Places, reading.MadeUp
	if known > 0 {
		out.places = append(unpackPlaces(c.placesOf(known), int32(known)), reading.Places...)
	}
	return out, nil
}

// answersBefore says whether a result of a list answers a call before it, which the record may have under another id.
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

// comparison is a list and the record that it is looked for in.
type comparison struct {
	finder  *Finder
	request *Request
	chain   *chain
	loaded  *view.Loaded
	snap    *store.Snapshot
}

// read finds the list behind so many known elements in the record behind so many messages. It may differ, as far as the request allows.
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

// take notes a reading. Its parts are the list's, which another attempt reads again.
func (x *Found) take(r *history.Reading, before int32) {
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

// Moves says whether the list takes messages out of the view, or puts some back.
func (x *Found) Moves() bool { return len(x.TakeOut)+len(x.PutBack) > 0 }

// maxMarks is how many lists are remembered: the last one, those of callers who take turns, and one that an edit goes back to.
const maxMarks = 4

// Changes says whether the list changes what is on record already, or how it is shown: then no other list is known any more.
func (x *Found) Changes() bool { return x.Rewind >= 0 || x.Moves() }

// Slot remembers the list, once the record has so many messages, which stand in the list at these places.
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
