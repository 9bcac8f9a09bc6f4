package contents

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// RetrieveContent returns a content: all of it or a range, page by page, or the passages that match search terms.
func (cs *Service) RetrieveContent(ctx context.Context, r RetrieveContentRequest) (*RetrieveContentResult, error) {
	h, source, info, err := cs.openSource(ctx, r.Key, r.ContentID)
	if err != nil {
		return nil, err
	}
	counter, err := cs.Views.Counter(info.Counter)
	if err != nil {
		return nil, err
	}
	out := &RetrieveContentResult{Source: *source}
	if r.Excerpts != nil {
		out.Excerpts, err = h.excerpts(ctx, r.Excerpts, counter, int(r.MaxTokens), r.MaxBytes)
		return out, err
	}
	return out, h.page(ctx, &r, counter, out)
}

// StreamContent passes a content from a byte on to give, chunk by chunk. The first call also gets the source, and an empty chunk if no
// bytes are left.
func (cs *Service) StreamContent(ctx context.Context, key store.Key, contentID string, offset int64, give func(source *Source, at int64, chunk []byte) error) error {
	h, source, _, err := cs.openSource(ctx, key, contentID)
	if err != nil {
		return err
	}
	if size := h.Record.Bytes; offset >= size {
		return give(source, size, nil)
	}
	return h.Each(ctx, offset, func(at int64, chunk []byte) error {
		first := source
		source = nil
		return give(first, at, chunk)
	})
}

// openSource opens a content by its handle.
func (cs *Service) openSource(ctx context.Context, key store.Key, contentID string) (*Reader, *Source, *store.Info, error) {
	rec, snap, err := cs.find(ctx, key, contentID)
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := cs.Open(ctx, key, &snap.Head, rec)
	if err != nil {
		return nil, nil, nil, err
	}
	sources, err := cs.sourceOf(ctx, key, snap.Head.Incarnation, rec)
	if err != nil {
		return nil, nil, nil, err
	}
	return h, &sources[0], snap.Info, nil
}

func notText() error {
	return conversation.Errorf(conversation.ContentNotText, "the content is not text: it has bytes alone")
}

// page answers with the requested range from the cursor on, as far as there is room.
func (h *Reader) page(ctx context.Context, r *RetrieveContentRequest, counter tokens.Counter, out *RetrieveContentResult) error {
	unit := r.Unit
	if !h.Record.isText() && (unit > ContentBytes || r.MaxTokens > 0) {
		return notText()
	}
	if unit == ContentItems {
		return h.items(ctx, r, counter, out)
	}
	from, end, err := h.bytesOf(ctx, r)
	if err != nil {
		return err
	}
	if r.Cursor != nil {
		from = min(max(from, *r.Cursor), end)
	}
	chunk, err := h.Read(ctx, from, min(end, from+roomFor(r)))
	if err != nil {
		return err
	}
	if h.Record.isText() {
		whole := from+int64(len(chunk)) == end
		if chunk, err = CutText(chunk, whole, counter, int(r.MaxTokens)); err != nil {
			return err
		}
	}
	out.Chunk, out.Bytes = chunk, [2]int64{from, from + int64(len(chunk))}
	if to := out.Bytes[1]; to < end {
		out.Next = &to
	}
	return nil
}

// roomFor returns how many bytes an answer may have.
func roomFor(r *RetrieveContentRequest) int64 {
	const pageBytes, perToken = 3 << 20, 64 // no longer text has more bytes per token than this
	room := int64(pageBytes)
	if r.MaxBytes > 0 {
		room = int64(r.MaxBytes)
	}
	if r.MaxTokens > 0 {
		room = min(room, perToken*int64(r.MaxTokens))
	}
	return max(room, utf8.UTFMax)
}

// bytesOf converts the requested range to bytes.
func (h *Reader) bytesOf(ctx context.Context, r *RetrieveContentRequest) (from, end int64, err error) {
	size := h.Record.Bytes
	switch r.Unit {
	case ContentWhole:
		return 0, size, nil
	case ContentBytes:
		return h.alignToCharacters(ctx, min(r.From, size), min(max(r.From, r.End), size))
	}
	o, err := h.outline(ctx)
	if err != nil {
		return 0, 0, err
	}
	return h.find(ctx, o, unitOf(r.Unit), r.From, r.End)
}

// alignToCharacters moves the ends of a byte range to the starts of characters. The result holds the characters that start in the range.
func (h *Reader) alignToCharacters(ctx context.Context, from, end int64) (int64, int64, error) {
	for _, at := range []*int64{&from, &end} {
		for h.Record.isText() && *at < h.Record.Bytes {
			b, err := h.Read(ctx, *at, *at+1)
			if err != nil {
				return 0, 0, err
			}
			if utf8.RuneStart(b[0]) {
				break
			}
			*at++
		}
	}
	return from, end, nil
}

func (h *Reader) find(ctx context.Context, o *content.Outline, unit content.Unit, from, end int64) (int64, int64, error) {
	return o.Find(unit, from, end, func(from, to int64) ([]byte, error) { return h.Read(ctx, from, to) })
}

func unitOf(u ContentUnit) content.Unit {
	switch u {
	case ContentChars:
		return content.UnitChars
	case ContentLines:
		return content.UnitLines
	case ContentItems:
		return content.UnitItems
	default:
		return content.UnitBytes
	}
}

// CutText cuts a text between characters so that it weighs at most limit tokens (0: any). whole says that no more of the content follows.
func CutText(text []byte, whole bool, counter tokens.Counter, limit int) ([]byte, error) {
	if !whole {
		text = text[:WholeRunes(text)]
	}
	if limit == 0 || len(text) == 0 {
		return text, nil
	}
	for {
		n, _ := counter.Count(string(text))
		if n <= limit {
			return text, nil
		}
		keep := WholeRunes(text[:min(len(text)*limit/n, len(text)*9/10)])
		if keep == 0 {
			return nil, conversation.Errorf(conversation.ExpansionTooLarge, "max_tokens leaves no room for a single character")
		}
		text = text[:keep]
	}
}

// items answers with whole items of a JSON array. The cursor counts items.
func (h *Reader) items(ctx context.Context, r *RetrieveContentRequest, counter tokens.Counter, out *RetrieveContentResult) error {
	o, err := h.outline(ctx)
	if err != nil {
		return err
	}
	total, ok := o.Items()
	if !ok {
		return conversation.Errorf(conversation.InvalidField, "the content has no items").
			At("range.items", "the content is neither a JSON array nor an object with one array in it")
	}
	end := min(r.End, total)
	from := min(r.From, end)
	if r.Cursor != nil {
		from = min(max(from, *r.Cursor), end)
	}
	for to := end; ; {
		first, last, err := h.find(ctx, o, content.UnitItems, from, to)
		if err != nil {
			return err
		}
		chunk, fits, err := h.fitting(ctx, first, last, r, counter)
		if err != nil {
			return err
		}
		if fits {
			out.Chunk, out.Bytes = chunk, [2]int64{first, last}
			if to < end {
				out.Next = &to
			}
			return nil
		}
		if to = from + (to-from)*3/4; to == from {
			return conversation.Errorf(conversation.ExpansionTooLarge, "item %d alone is larger than the reply may be: ask for chars", from)
		}
	}
}

// fitting reads a range. It returns false if there is no room for it.
func (h *Reader) fitting(ctx context.Context, from, end int64, r *RetrieveContentRequest, counter tokens.Counter) ([]byte, bool, error) {
	if end-from > roomFor(r) {
		return nil, false, nil
	}
	chunk, err := h.Read(ctx, from, end)
	if err != nil || r.MaxTokens == 0 {
		return chunk, err == nil, err
	}
	n, _ := counter.Count(string(chunk))
	return chunk, n <= int(r.MaxTokens), nil
}

// excerpts returns the passages of the content that match search terms.
func (h *Reader) excerpts(ctx context.Context, q *ExcerptQuery, counter tokens.Counter, maxTokens, maxBytes int) ([]ContentExcerpt, error) {
	if !h.Record.isText() {
		return nil, notText()
	}
	return searchExcerpts(q, counter, maxTokens, maxBytes, func(s *excerptSearch) error { return h.add(ctx, s) })
}

// excerptSearch is one search over contents.
type excerptSearch struct {
	search *search.Search
	pieces []searchedPart
}

// searchedPart is what a search looks through as one text: a content, or a piece of one that is too large to be held.
type searchedPart struct {
	*Reader
	pieced bool
	text   string // of the current piece; empty for a whole content
	bytes  int64  // position of the piece in the content: bytes, characters and lines before it
	chars  int64
	lines  int64
}

func (s *excerptSearch) add(p searchedPart, d *search.Document) {
	s.search.Add(len(s.pieces), d)
	p.text = ""
	s.pieces = append(s.pieces, p)
}

// next returns the part that follows this piece.
func (p searchedPart) next() searchedPart {
	p.bytes += int64(len(p.text))
	p.chars += int64(utf8.RuneCountInString(p.text))
	p.lines += int64(strings.Count(p.text, "\n"))
	return p
}

// searchExcerpts runs a search and returns as many of its excerpts as there is room for. If there is no room even for the best one,
// excerpts are made shorter.
func searchExcerpts(q *ExcerptQuery, counter tokens.Counter, maxTokens, maxBytes int, fill func(*excerptSearch) error) ([]ContentExcerpt, error) {
	maxTokens, maxBytes = cmp.Or(maxTokens, math.MaxInt), cmp.Or(maxBytes, math.MaxInt)
	terms := search.NewQuery(q.Terms...)
	chars := q.MaxChars
	if chars <= 0 || chars > search.MaxExcerptChars {
		chars = search.MaxExcerptChars
	}
	const leastChars = 40
	for {
		s := &excerptSearch{search: search.NewSearch(terms, search.Options{Max: q.Max, MaxChars: chars})}
		if err := fill(s); err != nil {
			return nil, err
		}
		found := s.search.Excerpts()
		out := fittingExcerpts(s.located(found), counter, maxTokens, maxBytes)
		if len(out) > 0 || len(found) == 0 || chars <= leastChars {
			return out, nil
		}
		chars = max(chars/2, leastChars)
	}
}

// fittingExcerpts returns the leading excerpts, best first, that fit together.
func fittingExcerpts(found []ContentExcerpt, counter tokens.Counter, maxTokens, maxBytes int) []ContentExcerpt {
	const beside = 256 // bytes of an answer for each excerpt besides its text
	weight, size := 0, 0
	for i := range found {
		n, _ := counter.Count(found[i].Text)
		weight, size = weight+n, size+len(found[i].Text)+beside
		if weight > maxTokens || size > maxBytes {
			return found[:i]
		}
	}
	return found
}

// located turns the excerpts of a search into passages with their content and their place in it.
func (s *excerptSearch) located(found []search.Excerpt) []ContentExcerpt {
	out := make([]ContentExcerpt, len(found))
	for i, x := range found {
		p := &s.pieces[x.Content]
		out[i] = ContentExcerpt{
			ContentID: p.Record.Handle, Text: x.Text, Location: x.Location, Bytes: x.Bytes, Chars: x.Chars, Score: x.Score,
			Matched: x.Matched, Relevance: x.Relevance,
		}
		if p.pieced {
			p.shift(&out[i], &x)
		}
	}
	return out
}

// shift moves the position of an excerpt from its piece to the whole content.
func (p *searchedPart) shift(out *ContentExcerpt, x *search.Excerpt) {
	for i := range out.Bytes {
		out.Bytes[i], out.Chars[i] = x.Bytes[i]+p.bytes, x.Chars[i]+p.chars
	}
	var first, last int64
	if n, _ := fmt.Sscanf(x.Location, "lines %d-%d", &first, &last); n == 2 {
		out.Location = fmt.Sprintf("lines %d-%d", first+p.lines, last+p.lines)
	}
}
