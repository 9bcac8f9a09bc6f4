package view

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ErrMissing ends a plan that needs something its window does not hold. The window has noted what; RunPlan loads it.
var ErrMissing = errors.New("engine: the window lacks what the plan needs")

// missing is what a plan has found its window to lack.
type missing struct {
	ranges   []conversation.Range
	back     *backwardRead
	contents []conversation.ContentRef
	slots    []string
}

// backwardRead asks for messages before an index, newest first, until they weigh more than so many tokens.
type backwardRead struct {
	before int32
	tokens int64
}

func (m *missing) none() bool {
	return len(m.ranges)+len(m.contents)+len(m.slots) == 0 && m.back == nil
}

// loadExtras reads contents and slots.
func (w *Loaded) loadExtras(ctx context.Context, s store.Store, m missing) error {
	if len(m.contents)+len(m.slots) == 0 {
		return nil
	}
	if w.contents == nil {
		w.contents = make(map[conversation.ID]string)
	}
	if w.extraSlots == nil {
		w.extraSlots = make(map[string][]byte)
	}
	q := store.Query{Incarnation: w.Head.Incarnation, Slots: m.slots}
	for _, c := range m.contents {
		q.Contents = append(q.Contents, store.ContentRange{ID: c.ID, Length: -1})
	}
	snap, err := w.readMore(ctx, s, q)
	if err != nil {
		return txn.Failure(err)
	}
	for i, c := range m.contents {
		if int64(len(snap.Contents[i])) != c.Bytes {
			return conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
		}
		w.contents[c.ID] = string(snap.Contents[i])
	}
	for _, name := range m.slots {
		w.extraSlots[name] = snap.Slots[name]
	}
	return nil
}

// readMore reads more of the conversation. Of one that is yet to be, nothing is there.
func (w *Loaded) readMore(ctx context.Context, s store.Store, q store.Query) (*store.Snapshot, error) {
	if w.unborn {
		return &store.Snapshot{Contents: make([][]byte, len(q.Contents))}, nil
	}
	return s.Read(ctx, w.Key, q)
}

// dropExtras forgets the contents and slots that were read for a plan: what was made of them is kept.
func (w *Loaded) dropExtras() { w.contents, w.extraSlots = nil, nil }

// lacks says whether something was found missing.
func (w *Loaded) lacks() bool { return !w.missing.none() }

// IgnoreMissing forgives that something is missing, so that a loop finds all that is. Behind the loop, its caller asks for
// Incomplete.
func (w *Loaded) IgnoreMissing(err error) error {
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// Incomplete is ErrMissing if something was found missing: the end of a loop that has used IgnoreMissing.
func (w *Loaded) Incomplete() error {
	if w.lacks() {
		return ErrMissing
	}
	return nil
}

// Require ends the plan unless the window holds the ranges.
func (w *Loaded) Require(ranges ...conversation.Range) error {
	lacking := conversation.SubtractRanges(ranges, w.loaded)
	if len(lacking) == 0 {
		return nil
	}
	w.missing.ranges = append(w.missing.ranges, lacking...)
	return ErrMissing
}

// Inline is parts with their contents in memory: the parts themselves if nothing of them is stored as chunks.
func (w *Loaded) Inline(parts []conversation.Part) ([]conversation.Part, error) {
	if !slices.ContainsFunc(conversation.Contents(parts), Stored) {
		return parts, nil
	}
	parts = conversation.CloneParts(parts)
	for _, c := range conversation.Contents(parts) {
		if !Stored(c) {
			continue
		}
		text, ok := w.contents[c.Ref.ID]
		if !ok {
			if !slices.Contains(w.missing.contents, *c.Ref) { // whatever asks for it again and again, it is read once
				w.missing.contents = append(w.missing.contents, *c.Ref)
			}
			continue
		}
		*c = conversation.Content{Inline: text}
	}
	return parts, w.Incomplete()
}

// Texts are contents in memory.
func (w *Loaded) Texts(contents ...conversation.Content) ([]string, error) {
	parts, err := w.Inline(TextParts(contents))
	if err != nil {
		return nil, err
	}
	return InlineTexts(parts), nil
}

// ExtraSlots are slots that builds do not read with every window. One that is not there is nil.
func (w *Loaded) ExtraSlots(names ...string) (map[string][]byte, error) {
	for _, name := range names {
		if _, ok := w.extraSlots[name]; !ok {
			w.missing.slots = append(w.missing.slots, name)
		}
	}
	return w.extraSlots, w.Incomplete()
}

// NewestFrom is where the newest messages begin that weigh the limit. Results that will be clipped weigh at most share each.
func (w *Loaded) NewestFrom(limit, share int64) (int32, error) {
	from, weight := w.Head.Messages, int64(0)
	for ; weight <= limit && from > 0; from-- {
		m, ok := w.Message(from - 1)
		if !ok {
			w.missing.back = &backwardRead{before: from, tokens: limit - weight}
			return 0, ErrMissing
		}
		weight += ClippedWeight(m, share)
	}
	return from, nil
}

// loadBack reads messages backward, a page at most, and makes the window hold them.
func (w *Loaded) loadBack(ctx context.Context, s store.Store, b backwardRead) error {
	snap, err := s.Read(ctx, w.Key, store.Query{
		Incarnation: w.Head.Incarnation,
		Ranges: []store.MessageRange{{
			Range: conversation.Range{First: 0, End: b.before}, Reverse: true, Limit: backwardPage, MaxTokens: b.tokens + 1,
		}},
	})
	if err != nil {
		return txn.Failure(err)
	}
	if len(snap.Messages) == 0 {
		return conversation.Errorf(conversation.CorruptRecord, "message %d is missing", b.before-1)
	}
	if err := w.Load(ctx, s, conversation.Range{First: snap.Messages[len(snap.Messages)-1].Index, End: b.before}); err != nil {
		return err
	}
	if _, ok := w.Message(b.before - 1); !ok { // else the plan would ask for it for ever
		return conversation.Errorf(conversation.CorruptRecord, "message %d is missing", b.before-1)
	}
	return nil
}

// backwardPage is how many messages are read at a time while the start of a window is looked for.
const backwardPage = 512

// TextParts are contents as parts of text.
func TextParts(contents []conversation.Content) []conversation.Part {
	parts := make([]conversation.Part, len(contents))
	for i, c := range contents {
		parts[i] = conversation.Part{Kind: conversation.PartText, Text: c}
	}
	return parts
}

// InlineTexts are the texts of parts whose contents are in memory.
func InlineTexts(parts []conversation.Part) []string {
	out := make([]string, len(parts))
	for i := range parts {
		out[i] = parts[i].Text.Inline
	}
	return out
}

// Stored says whether a content is stored as chunks.
func Stored(c *conversation.Content) bool { return c.Ref != nil }
