package contents

import (
	"bytes"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Reader reads a content that is not gone.
type Reader struct {
	Service     *Service
	Key         store.Key
	Incarnation conversation.ID
	number      int64
	Record      *Record
	Ref         *conversation.ContentRef // where its chunks are; nil if Inline holds all of it
	Inline      string
}

// Open locates the bytes of a content.
func (cs *Service) Open(ctx context.Context, key store.Key, head *store.Head, r *Record) (*Reader, error) {
	if r.Expired {
		return nil, GoneError()
	}
	number, _ := NumberOf(r.Handle)
	h := &Reader{Service: cs, Key: key, Incarnation: head.Incarnation, number: number, Record: r}
	if !r.AtAppend {
		if len(r.Content) == len(conversation.ID{}) {
			h.Ref = &conversation.ContentRef{ID: conversation.ID(r.Content), Bytes: r.Bytes, Chars: r.Chars}
		}
		return h, nil
	}
	snap, err := cs.Store.Read(ctx, key, store.Query{Incarnation: head.Incarnation, Ranges: []store.MessageRange{
		{Range: conversation.Range{First: r.Message, End: r.Message + 1}},
	}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	if len(snap.Messages) == 0 || int(r.Part) >= len(snap.Messages[0].Parts) {
		return nil, Damaged("a source record")
	}
	return h, h.OfPart(ctx, snap.Messages[0].Parts[r.Part:r.Part+1])
}

// OfPart takes the text of a message's part.
func (h *Reader) OfPart(ctx context.Context, part []conversation.Part) error {
	if conversation.Erased(part) {
		return GoneError()
	}
	p := &part[0]
	switch {
	case p.Kind == conversation.PartText, p.Kind == conversation.PartToolResult && p.Result.Output != conversation.OutputParts:
		whole := WholeOf(p)
		h.Ref, h.Inline = whole.Ref, whole.Inline
	case p.Kind == conversation.PartToolResult:
		whole, err := h.Service.Blobs.Inline(ctx, h.Key, h.Incarnation, part)
		if err != nil {
			return err
		}
		h.Inline = whole[0].Result.Words()
	default:
		return Damaged("a source record")
	}
	return nil
}

// Read reads the bytes [from, to), which must lie in the content.
func (h *Reader) Read(ctx context.Context, from, to int64) ([]byte, error) {
	if h.Ref == nil {
		return []byte(h.Inline[from:to]), nil
	}
	snap, err := h.Service.Store.Read(ctx, h.Key, store.Query{Incarnation: h.Incarnation, Contents: []store.ContentRange{
		{ID: h.Ref.ID, Offset: from, Length: to - from},
	}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	switch got := snap.Contents[0]; {
	case got == nil: // the content was deleted after its record was read
		return nil, GoneError()
	case int64(len(got)) != to-from:
		return nil, Damaged("a stored content")
	default:
		return got, nil
	}
}

// outline returns the outline of the content, which locates ranges in it.
func (h *Reader) outline(ctx context.Context) (*content.Outline, error) {
	key := cacheKey{incarnation: h.Incarnation, kind: outlineKind, number: h.number}
	if o, ok := cached[*content.Outline](h.Service.Cache, key); ok {
		return o, nil
	}
	feeder := content.NewOutliner()
	if err := h.Each(ctx, 0, func(_ int64, chunk []byte) error { feeder.Feed(chunk); return nil }); err != nil {
		return nil, err
	}
	o := feeder.Outline()
	h.Service.Cache.ready.Put(key, o, o.Size())
	return o, nil
}

// Each passes the content from a byte on to give, chunk by chunk.
func (h *Reader) Each(ctx context.Context, from int64, give func(at int64, chunk []byte) error) error {
	for from < h.Record.Bytes {
		to := min(from-from%store.ChunkBytes+store.ChunkBytes, h.Record.Bytes)
		chunk, err := h.Read(ctx, from, to)
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

// searchedWhole is the size in bytes up to which a content is searched as a whole. A larger one is searched as text, in pieces
// of searchedPiece bytes.
const (
	searchedWhole = 16 << 20
	searchedPiece = 4 << 20
)

// add adds the content to a search, as a whole or in pieces. Each piece has a number of its own.
func (h *Reader) add(ctx context.Context, s *excerptSearch) error {
	if h.Record.Bytes > searchedWhole {
		return h.addPieces(ctx, s)
	}
	d, err := h.document(ctx)
	if err != nil {
		return err
	}
	s.add(searchedPart{Reader: h}, d)
	return nil
}

// document returns the content prepared for searching.
func (h *Reader) document(ctx context.Context) (*search.Document, error) {
	key := cacheKey{incarnation: h.Incarnation, kind: documentKind, number: h.number}
	if d, ok := cached[*search.Document](h.Service.Cache, key); ok {
		return d, nil
	}
	select {
	case h.Service.Cache.readers <- struct{}{}:
		defer func() { <-h.Service.Cache.readers }()
	case <-ctx.Done():
		return nil, txn.Failure(ctx.Err())
	}
	if d, ok := cached[*search.Document](h.Service.Cache, key); ok { // another call has prepared it meanwhile
		return d, nil
	}
	text, err := h.Read(ctx, 0, h.Record.Bytes)
	if err != nil {
		return nil, err
	}
	d := search.NewDocument(content.Read(content.Kind(h.Record.Kind), string(text)))
	h.Service.Cache.ready.Put(key, d, d.Size()+h.Record.Bytes)
	return d, nil
}

// addPieces adds a content that is too large to be held in memory. Its pieces end at line ends where possible.
func (h *Reader) addPieces(ctx context.Context, s *excerptSearch) error {
	select {
	case h.Service.Cache.readers <- struct{}{}:
		defer func() { <-h.Service.Cache.readers }()
	case <-ctx.Done():
		return txn.Failure(ctx.Err())
	}
	at := searchedPart{Reader: h, pieced: true}
	for at.bytes < h.Record.Bytes {
		text, err := h.Read(ctx, at.bytes, min(at.bytes+searchedPiece, h.Record.Bytes))
		if err != nil {
			return err
		}
		if at.bytes+int64(len(text)) < h.Record.Bytes {
			text = text[:cutAt(text)]
		}
		kind := content.Kind(h.Record.Kind)
		if kind == content.KindHTML || kind == content.KindJSON || kind == content.KindMarkdown {
			kind = content.KindText
		}
		at.text = string(text)
		s.add(at, search.NewDocument(content.Read(kind, at.text)))
		at = at.next()
	}
	return nil
}

// cutAt returns where a piece of text should end: behind its last line, or else before a character that is not complete.
func cutAt(text []byte) int {
	if at := bytes.LastIndexByte(text, '\n'); at >= len(text)/2 {
		return at + 1
	}
	return WholeRunes(text)
}

// WholeRunes returns how many bytes of a text are complete characters.
func WholeRunes(text []byte) int {
	last := len(text) - 1
	for last > 0 && last > len(text)-utf8.UTFMax && !utf8.RuneStart(text[last]) {
		last--
	}
	if last >= 0 && !utf8.FullRune(text[last:]) {
		return last
	}
	return len(text)
}

// sourceOf returns records as callers see them, with the times at which their runs take them along.
func (cs *Service) sourceOf(ctx context.Context, key store.Key, incarnation conversation.ID, records ...*Record) ([]Source, error) {
	var names []string
	for _, r := range records {
		if name := RunSlot(r.Run); r.OfRun && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slots := NewSlotChanges(nil)
	if len(names) > 0 {
		if err := cs.ReadSlots(ctx, key, incarnation, slots, names...); err != nil {
			return nil, err
		}
	}
	out := make([]Source, len(records))
	for i, r := range records {
		run, err := ParseRun(slots.Get(RunSlot(r.Run)))
		if err != nil {
			return nil, err
		}
		if run == nil {
			run = &RunRecord{}
		}
		out[i] = r.Source(run.Due())
		out[i].Expired = r.Expired || r.OfRun && !cs.Txn.Now().Before(run.Due())
	}
	return out, nil
}
