package engine

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// holding is a content that can be had.
type holding struct {
	engine      *Engine
	key         Key
	incarnation conversation.ID
	number      int64
	record      *sourceRecord
	ref         *conversation.ContentRef // where its chunks are; nil: inline is all of it
	inline      string
}

// hold finds where a content is.
func (e *Engine) hold(ctx context.Context, key Key, head *Head, r *sourceRecord) (*holding, error) {
	if r.Expired {
		return nil, contentGone()
	}
	number, _ := numberOf(r.Handle)
	h := &holding{engine: e, key: key, incarnation: head.Incarnation, number: number, record: r}
	if !r.AtAppend {
		if len(r.Content) == len(conversation.ID{}) {
			h.ref = &conversation.ContentRef{ID: conversation.ID(r.Content), Bytes: r.Bytes, Chars: r.Chars}
		}
		return h, nil
	}
	snap, err := e.store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Ranges: []store.MessageRange{
		{Range: conversation.Range{First: r.Message, End: r.Message + 1}},
	}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	if len(snap.Messages) == 0 || int(r.Part) >= len(snap.Messages[0].Parts) {
		return nil, damaged("a source record")
	}
	return h, h.ofPart(ctx, snap.Messages[0].Parts[r.Part:r.Part+1])
}

// ofPart holds the text of a message's part.
func (h *holding) ofPart(ctx context.Context, part []conversation.Part) error {
	if conversation.Erased(part) {
		return contentGone()
	}
	p := &part[0]
	switch {
	case p.Kind == conversation.PartText:
		h.ref, h.inline = p.Text.Ref, p.Text.Inline
	case p.Kind == conversation.PartToolResult && p.Result.Output != conversation.OutputParts:
		h.ref, h.inline = p.Result.Text.Ref, p.Result.Text.Inline
	case p.Kind == conversation.PartToolResult:
		whole, err := h.engine.inline(ctx, h.key, h.incarnation, part)
		if err != nil {
			return err
		}
		h.inline = whole[0].Result.Words()
	default:
		return damaged("a source record")
	}
	return nil
}

// read reads bytes of the content, which lie in it.
func (h *holding) read(ctx context.Context, from, to int64) ([]byte, error) {
	if h.ref == nil {
		return []byte(h.inline[from:to]), nil
	}
	snap, err := h.engine.store.Read(ctx, h.key, store.Query{Incarnation: h.incarnation, Contents: []store.ContentRange{
		{ID: h.ref.ID, Offset: from, Length: to - from},
	}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	switch got := snap.Contents[0]; {
	case got == nil: // it went since its record was read
		return nil, contentGone()
	case int64(len(got)) != to-from:
		return nil, damaged("a stored content")
	default:
		return got, nil
	}
}

// outline finds ranges in the content.
func (h *holding) outline(ctx context.Context) (*content.Outline, error) {
	key := shelfKey{h.incarnation, shelfOutline, h.number}
	if s, ok := h.engine.library.get(key); ok {
		return s.outline, nil
	}
	feeder := content.NewOutliner()
	if err := h.each(ctx, 0, func(_ int64, chunk []byte) error { feeder.Feed(chunk); return nil }); err != nil {
		return nil, err
	}
	o := feeder.Outline()
	h.engine.library.put(key, shelved{outline: o, bytes: o.Size()})
	return o, nil
}

// each gives the content in pieces of a chunk, from a byte on.
func (h *holding) each(ctx context.Context, from int64, give func(at int64, chunk []byte) error) error {
	for from < h.record.Bytes {
		to := min(from-from%store.ChunkBytes+store.ChunkBytes, h.record.Bytes)
		chunk, err := h.read(ctx, from, to)
		if err != nil {
			return err
		}
		if err := give(from, chunk); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// searchedWhole is up to which size a content is searched as one. A larger one is searched in pieces of searchedPiece, as text.
const (
	searchedWhole = 16 << 20
	searchedPiece = 4 << 20
)

// add adds the content to a search, as one or in pieces, under a number of its own for each piece.
func (h *holding) add(ctx context.Context, s *searching) error {
	if h.record.Bytes > searchedWhole {
		return h.addPieces(ctx, s)
	}
	d, err := h.document(ctx)
	if err != nil {
		return err
	}
	s.add(piece{holding: h}, d)
	return nil
}

// document is the content ready to be searched.
func (h *holding) document(ctx context.Context) (*search.Document, error) {
	key := shelfKey{h.incarnation, shelfDocument, h.number}
	if s, ok := h.engine.library.get(key); ok {
		return s.document, nil
	}
	select {
	case h.engine.library.readers <- struct{}{}:
		defer func() { <-h.engine.library.readers }()
	case <-ctx.Done():
		return nil, txn.Failure(ctx.Err())
	}
	if s, ok := h.engine.library.get(key); ok { // somebody else has made it ready meanwhile
		return s.document, nil
	}
	text, err := h.read(ctx, 0, h.record.Bytes)
	if err != nil {
		return nil, err
	}
	d := search.Prepare(content.Read(content.Kind(h.record.Kind), string(text)))
	h.engine.library.put(key, shelved{document: d, bytes: d.Size() + h.record.Bytes})
	return d, nil
}

// addPieces searches a content that is too large to be held: its pieces end at ends of lines, where there are any.
func (h *holding) addPieces(ctx context.Context, s *searching) error {
	select {
	case h.engine.library.readers <- struct{}{}:
		defer func() { <-h.engine.library.readers }()
	case <-ctx.Done():
		return txn.Failure(ctx.Err())
	}
	at := piece{holding: h, pieced: true}
	for at.bytes < h.record.Bytes {
		text, err := h.read(ctx, at.bytes, min(at.bytes+searchedPiece, h.record.Bytes))
		if err != nil {
			return err
		}
		if at.bytes+int64(len(text)) < h.record.Bytes {
			text = text[:cutAt(text)]
		}
		kind := content.Kind(h.record.Kind)
		if kind == content.KindHTML || kind == content.KindJSON || kind == content.KindMarkdown {
			kind = content.KindText
		}
		at.text = string(text)
		s.add(at, search.Prepare(content.Read(kind, at.text)))
		at = at.after()
	}
	return nil
}

// cutAt is where a piece of text ends best: behind its last line, or else before a character that is not whole.
func cutAt(text []byte) int {
	for i := len(text) - 1; i >= len(text)/2; i-- {
		if text[i] == '\n' {
			return i + 1
		}
	}
	return wholeRunes(text)
}

// wholeRunes is how many bytes of a text are whole characters.
func wholeRunes(text []byte) int {
	for back := 1; back <= min(3, len(text)); back++ {
		c := text[len(text)-back]
		if c&0xC0 == 0x80 { // a continuation: the character began before it
			continue
		}
		if c >= 0xC0 && runeBytes(c) > back {
			return len(text) - back
		}
		break
	}
	return len(text)
}

// runeBytes is how long a character is that begins with a byte.
func runeBytes(first byte) int {
	switch {
	case first >= 0xF0:
		return 4
	case first >= 0xE0:
		return 3
	default:
		return 2
	}
}

// sourceOf is the record as callers see it, with when its run takes it along.
func (e *Engine) sourceOf(ctx context.Context, key Key, incarnation conversation.ID, records ...*sourceRecord) ([]Source, error) {
	var names []string
	for _, r := range records {
		if name := runSlot(r.Run); r.OfRun && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slots := newSlotChanges(nil)
	if len(names) > 0 {
		if err := e.readSlots(ctx, key, incarnation, slots, names...); err != nil {
			return nil, err
		}
	}
	out := make([]Source, len(records))
	for i, r := range records {
		run, err := parseRun(slots.get(runSlot(r.Run)))
		if err != nil {
			return nil, err
		}
		if run == nil {
			run = &runRecord{}
		}
		out[i] = r.source(run.due())
		out[i].Expired = r.Expired || r.OfRun && !e.txn.Now().Before(run.due())
	}
	return out, nil
}
