package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// errMissing ends a plan that needs something its window does not hold. The window has noted what; runPlan loads it.
var errMissing = errors.New("engine: the window lacks what the plan needs")

// missing is what a plan has found its window to lack.
type missing struct {
	ranges   []conversation.Range
	back     *backward
	contents []conversation.ContentRef
	slots    []string
}

// backward asks for messages before an index, newest first, until they weigh more than so many tokens.
type backward struct {
	before int32
	tokens int64
}

func (m *missing) none() bool {
	return len(m.ranges)+len(m.contents)+len(m.slots) == 0 && m.back == nil
}

// runPlan runs a plan over a window. A plan reads nothing: where the window lacks something, the plan ends, what is missing is loaded, and
// the plan is run again from the beginning. A plan must leave nothing behind that a second run would trip over.
func (e *Engine) runPlan(ctx context.Context, w *window, plan func() error) error {
	for {
		w.missing = missing{}
		err := plan()
		if !errors.Is(err, errMissing) {
			return err
		}
		if err := e.loadMissing(ctx, w); err != nil {
			return err
		}
	}
}

func (e *Engine) loadMissing(ctx context.Context, w *window) error {
	m := w.missing
	if m.none() {
		return conversation.Errorf(conversation.Internal, "a plan lacks something that it does not name")
	}
	if err := w.load(ctx, e, m.ranges...); err != nil {
		return err
	}
	if m.back != nil {
		if err := w.loadBack(ctx, e, *m.back); err != nil {
			return err
		}
	}
	return w.loadBeside(ctx, e, m)
}

// loadBeside reads contents and slots.
func (w *window) loadBeside(ctx context.Context, e *Engine, m missing) error {
	if len(m.contents)+len(m.slots) == 0 {
		return nil
	}
	q := store.Query{Incarnation: w.head.Incarnation, Slots: m.slots}
	for _, c := range m.contents {
		q.Contents = append(q.Contents, store.ContentRange{ID: c.ID, Length: -1})
	}
	snap, err := e.store.Read(ctx, w.key, q)
	if err != nil {
		return failure(err)
	}
	if w.contents == nil {
		w.contents, w.beside = make(map[conversation.ID]string), make(map[string][]byte)
	}
	for i, c := range m.contents {
		if int64(len(snap.Contents[i])) != c.Bytes {
			return conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
		}
		w.contents[c.ID] = string(snap.Contents[i])
	}
	for _, name := range m.slots {
		w.beside[name] = snap.Slots[name]
	}
	return nil
}

// dropBeside forgets the contents and slots that were read for a plan: what was made of them is kept.
func (w *window) dropBeside() { w.contents, w.beside = nil, nil }

// lacks says whether something was found missing.
func (w *window) lacks() bool { return !w.missing.none() }

// missed forgives that something is missing, so that a loop finds all that is. Its caller asks lacks behind it.
func (w *window) missed(err error) error {
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

// all is the end of a loop that has used missed.
func (w *window) all() error {
	if w.lacks() {
		return errMissing
	}
	return nil
}

// need ends the plan unless the window holds the ranges.
func (w *window) need(ranges ...conversation.Range) error {
	lacking := subtract(ranges, w.loaded)
	if len(lacking) == 0 {
		return nil
	}
	w.missing.ranges = append(w.missing.ranges, lacking...)
	return errMissing
}

// inline is parts with their contents in memory: the parts themselves if nothing of them is stored as chunks.
func (w *window) inline(parts []conversation.Part) ([]conversation.Part, error) {
	if !slices.ContainsFunc(conversation.Contents(parts), stored) {
		return parts, nil
	}
	parts = conversation.CloneParts(parts)
	for _, c := range conversation.Contents(parts) {
		if !stored(c) {
			continue
		}
		text, ok := w.contents[c.Ref.ID]
		if !ok {
			w.missing.contents = append(w.missing.contents, *c.Ref)
			continue
		}
		*c = conversation.Content{Inline: text}
	}
	return parts, w.all()
}

// texts are contents in memory.
func (w *window) texts(contents ...conversation.Content) ([]string, error) {
	parts, err := w.inline(textParts(contents))
	if err != nil {
		return nil, err
	}
	return inlineTexts(parts), nil
}

// slotsBeside are slots that builds do not read with every window. One that is not there is nil.
func (w *window) slotsBeside(names ...string) (map[string][]byte, error) {
	for _, name := range names {
		if _, ok := w.beside[name]; !ok {
			w.missing.slots = append(w.missing.slots, name)
		}
	}
	return w.beside, w.all()
}

// back is where the newest messages begin that weigh the limit. Results that will be clipped weigh at most share each.
func (w *window) back(limit, share int64) (int32, error) {
	from, weight := w.head.Messages, int64(0)
	for ; weight <= limit && from > 0; from-- {
		m, ok := w.message(from - 1)
		if !ok {
			w.missing.back = &backward{before: from, tokens: limit - weight}
			return 0, errMissing
		}
		weight += clippedWeight(m, share)
	}
	return from, nil
}

// loadBack reads messages backward, a page at most, and makes the window hold them.
func (w *window) loadBack(ctx context.Context, e *Engine, b backward) error {
	snap, err := e.store.Read(ctx, w.key, store.Query{
		Incarnation: w.head.Incarnation,
		Ranges: []store.MessageRange{{
			Range: conversation.Range{First: 0, End: b.before}, Reverse: true, Limit: backPage, MaxTokens: b.tokens + 1,
		}},
	})
	if err != nil {
		return failure(err)
	}
	if len(snap.Messages) == 0 {
		return conversation.Errorf(conversation.CorruptRecord, "message %d is missing", b.before-1)
	}
	return w.load(ctx, e, conversation.Range{First: snap.Messages[len(snap.Messages)-1].Index, End: b.before})
}

// backPage is how many messages are read at a time while the start of a window is looked for.
const backPage = 512
