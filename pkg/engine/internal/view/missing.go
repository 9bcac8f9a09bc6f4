package view

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ErrMissing ends a plan that needs something its window does not hold. The window records what is missing, and RunPlan
// loads it.
var ErrMissing = errors.New("engine: the window lacks what the plan needs")

// missing is what a plan found its window to lack.
type missing struct {
	ranges   []conversation.Range
	back     *backwardRead
	contents []conversation.ContentRef
	slots    []string
}

// backwardRead asks for the messages before an index, newest first, until they weigh more than the given number of tokens.
type backwardRead struct {
	before int32
	tokens int64
}

func (m *missing) none() bool {
	return len(m.ranges)+len(m.contents)+len(m.slots) == 0 && m.back == nil
}

// Extras are the contents and slots that a running plan has asked for, and everything that it still lacks.
type Extras struct {
	contents map[conversation.ID]string
	slots    map[string][]byte
	missing  missing
}

// load reads the missing contents and slots.
func (x *Extras) load(m missing, read func(store.Query) (*store.Snapshot, error)) error {
	if len(m.contents)+len(m.slots) == 0 {
		return nil
	}
	if x.contents == nil {
		x.contents = make(map[conversation.ID]string)
	}
	if x.slots == nil {
		x.slots = make(map[string][]byte)
	}
	q := store.Query{Slots: m.slots}
	for _, c := range m.contents {
		q.Contents = append(q.Contents, store.ContentRange{ID: c.ID, Length: -1})
	}
	snap, err := read(q)
	if err != nil {
		return txn.Failure(err)
	}
	for i, c := range m.contents {
		if int64(len(snap.Contents[i])) != c.Bytes {
			return conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
		}
		x.contents[c.ID] = string(snap.Contents[i])
	}
	for _, name := range m.slots {
		x.slots[name] = snap.Slots[name]
	}
	return nil
}

// readMore reads more of the conversation. A conversation that does not exist yet reads as empty.
func (w *Loaded) readMore(ctx context.Context, s store.Store, q store.Query) (*store.Snapshot, error) {
	if w.notStored {
		return &store.Snapshot{Contents: make([][]byte, len(q.Contents))}, nil
	}
	q.Incarnation = w.Head.Incarnation
	return s.Read(ctx, w.Key, q)
}

// drop drops the contents and slots that were read for a plan. What was made from them is kept.
func (x *Extras) drop() { x.contents, x.slots = nil, nil }

// lacksAnything reports whether anything was found missing.
func (x *Extras) lacksAnything() bool { return !x.missing.none() }

// IgnoreMissing drops ErrMissing, so that a loop goes on and finds everything that is missing. After the loop, its caller
// returns Incomplete.
func IgnoreMissing(err error) error {
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// Incomplete returns ErrMissing if anything was found missing. It ends a loop that used IgnoreMissing.
func (x *Extras) Incomplete() error {
	if x.lacksAnything() {
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
	w.Extras.missing.ranges = append(w.Extras.missing.ranges, lacking...)
	return ErrMissing
}

// Inline returns parts with their contents in memory. It returns the parts themselves if none of their contents is stored as
// chunks.
func (x *Extras) Inline(parts []conversation.Part) ([]conversation.Part, error) {
	if !slices.ContainsFunc(conversation.Contents(parts), Stored) {
		return parts, nil
	}
	parts = conversation.CloneParts(parts)
	for _, c := range conversation.Contents(parts) {
		if !Stored(c) {
			continue
		}
		text, ok := x.contents[c.Ref.ID]
		if !ok {
			if !slices.Contains(x.missing.contents, *c.Ref) { // so that each content is read once
				x.missing.contents = append(x.missing.contents, *c.Ref)
			}
			continue
		}
		*c = conversation.Content{Inline: text}
	}
	return parts, x.Incomplete()
}

// Texts returns the texts of contents.
func (x *Extras) Texts(contents ...conversation.Content) ([]string, error) {
	parts, err := x.Inline(TextParts(contents))
	if err != nil {
		return nil, err
	}
	return InlineTexts(parts), nil
}

// Slots returns slots that builds do not read with every window. A slot that does not exist is nil.
func (x *Extras) Slots(names ...string) (map[string][]byte, error) {
	for _, name := range names {
		if _, ok := x.slots[name]; !ok {
			x.missing.slots = append(x.missing.slots, name)
		}
	}
	return x.slots, x.Incomplete()
}

// NewestFrom is the first of the newest messages that together weigh limit tokens. Results that will be clipped weigh at
// most share tokens each.
func (w *Loaded) NewestFrom(limit, share int64) (int32, error) {
	from, weight := w.Head.Messages, int64(0)
	for ; weight <= limit && from > 0; from-- {
		m, ok := w.Message(from - 1)
		if !ok {
			w.Extras.missing.back = &backwardRead{before: from, tokens: limit - weight}
			return 0, ErrMissing
		}
		weight += ClippedWeight(m, share)
	}
	return from, nil
}

// loadBack reads messages backward, at most one page, and adds them to the window.
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
	if _, ok := w.Message(b.before - 1); !ok { // otherwise the plan would ask for it for ever
		return conversation.Errorf(conversation.CorruptRecord, "message %d is missing", b.before-1)
	}
	return nil
}

// backwardPage is how many messages are read at a time to find the start of a window.
const backwardPage = 512

// TextParts turns contents into text parts.
func TextParts(contents []conversation.Content) []conversation.Part {
	parts := make([]conversation.Part, len(contents))
	for i, c := range contents {
		parts[i] = conversation.Part{Kind: conversation.PartText, Text: c}
	}
	return parts
}

// InlineTexts returns the texts of parts whose contents are in memory.
func InlineTexts(parts []conversation.Part) []string {
	out := make([]string, len(parts))
	for i := range parts {
		out[i] = parts[i].Text.Inline
	}
	return out
}

// Stored reports whether a content is stored as chunks.
func Stored(c *conversation.Content) bool { return c.Ref != nil }
