package property

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// list are all source records, which must tell of every content there ever was, in order.
func (r *research) list() []engine.Source {
	var out []engine.Source
	for cursor := int64(0); ; {
		page, err := r.journey.engine.ListSources(ctx, engine.SourcesRequest{Key: r.key, Limit: 3, Cursor: cursor})
		if err != nil {
			r.t.Fatal(err)
		}
		if out = append(out, page.Sources...); page.Next == 0 {
			break
		}
		cursor = page.Next
	}
	if !slices.EqualFunc(out, r.held, func(s engine.Source, h *held) bool {
		return s.ContentID == h.handle && s.Bytes == int64(len(h.text)) && s.AtAppend == (h.message >= 0)
	}) {
		r.t.Fatalf("the sources are listed as %+v", out)
	}
	return out
}

// gone notes what had to go by now: with its run, or with the part of a message that it is.
func (r *research) gone() {
	erased := r.originals()
	for _, h := range r.held {
		run := r.runs[h.run]
		h.gone = h.gone || h.run != "" && run.over() || h.message >= 0 && erased[[2]int32{h.message, h.part}]
	}
	r.note() // what was overdue went with the reading
}

// judge reads everything.
func (r *research) judge() {
	r.gone()
	before := r.head()
	for i, s := range r.list() {
		h := r.held[i]
		if s.Expired && !h.gone {
			r.t.Fatalf("%s, of message %d and run %q, is expired, for no reason", h.handle, h.message, h.run)
		}
		if sum := sha256.Sum256([]byte(h.text)); !s.Expired && (s.SHA256 == nil || *s.SHA256 != sum) {
			r.t.Fatalf("%s has the SHA-256 %x, not %x", h.handle, s.SHA256, sum)
		}
		r.read(h)
	}
	if after := r.head(); after.Revision != before.Revision || after.EditSeq != before.EditSeq {
		r.t.Fatalf("reading makes %+v of %+v", after, before)
	}
}

// read demands a content byte for byte, or that it is gone for good.
func (r *research) read(h *held) {
	var streamed, paged strings.Builder
	streamErr := r.journey.engine.StreamContent(ctx, r.key, h.handle, 0, func(_ *engine.Source, _ int64, chunk []byte) error {
		streamed.Write(chunk)
		return nil
	})
	q := engine.RetrieveContentRequest{Key: r.key, ContentID: h.handle, MaxBytes: 10_000}
	var err error
	for {
		var got *engine.RetrieveContentResult
		if got, err = r.journey.engine.RetrieveContent(ctx, q); err != nil {
			break
		}
		paged.Write(got.Chunk)
		if q.Cursor = got.Next; q.Cursor == nil {
			break
		}
	}
	r.reads(h)
	switch {
	case h.gone && (conversation.KindOf(streamErr) != conversation.ContentExpired || conversation.KindOf(err) != conversation.ContentExpired):
		r.t.Fatalf("%s, of message %d and run %q, is gone, and streaming answers %v, retrieving %v", h.handle, h.message, h.run, streamErr, err)
	case !h.gone && (streamErr != nil || err != nil || streamed.String() != h.text || paged.String() != h.text):
		r.t.Fatalf("%s, of message %d and run %q: %v, %v, %d and %d bytes of %d", h.handle, h.message, h.run, streamErr, err, streamed.Len(), paged.Len(), len(h.text))
	}
}

// reads notes that reading keeps a run from being forgotten; it is known to the hour.
func (r *research) reads(h *held) {
	if run := r.runs[h.run]; h.run != "" && !h.gone && run.end.IsZero() && time.Since(run.used) >= time.Hour {
		run.used = time.Now()
	}
}

// originals demands of every message what was appended, but for what is rightly erased, and says what is.
func (r *research) originals() map[[2]int32]bool {
	out := map[[2]int32]bool{}
	q := engine.MessagesRequest{Key: r.key, Range: conversation.Range{End: -1}, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 }}
	page, err := r.journey.engine.Messages(ctx, q)
	if err != nil || len(page.Messages) != len(r.record) {
		r.t.Fatalf("%d messages are on record, not %d (%v)", len(page.Messages), len(r.record), err)
	}
	for i, e := range r.record {
		parts := page.Messages[i].Message.Parts
		for p := range parts {
			if conversation.Erased(parts[p : p+1]) {
				out[[2]int32{e.index, int32(p)}], e.erased[int32(p)] = true, true
				r.rightly(e, int32(p))
			} else if e.erased[int32(p)] {
				r.t.Fatalf("part %d of message %d was erased, and is back", p, e.index)
			}
		}
		r.whole(e, parts)
	}
	return out
}

// rightly demands that a part which is erased had to be: it was not to be preserved and is due, or its run is over.
func (r *research) rightly(e *entry, part int32) {
	if res := e.message.Parts[part].Result; res != nil && res.Expiration != nil && r.turn > e.turn+*res.Expiration.Turns {
		return
	}
	if !slices.ContainsFunc(r.held, func(h *held) bool {
		return h.message == e.index && h.part == part && h.run != "" && (h.gone || r.runs[h.run].over())
	}) {
		r.t.Fatalf("part %d of message %d is erased, for no reason", part, e.index)
	}
}

func (r *research) justErased(e *entry) {
	r.originals()
	u := broughtBack(r.record, e)
	if e.hidden {
		u = []*entry{e}
	}
	if !slices.ContainsFunc(u, func(e *entry) bool { return len(e.erased) > 0 }) {
		r.t.Fatalf("message %d is said to be erased, and its unit is not", e.index)
	}
}

// whole demands a message as it was appended, but for parts that are known to be erased: what cites them may stand in their place.
func (r *research) whole(e *entry, parts []conversation.Part) {
	want := slices.Clone(e.message.Parts)
	for p := range want {
		if e.erased[int32(p)] {
			want[p] = blanked(want[p])
			if r.standsFor(e.index, int32(p), parts[p].Citation) {
				want[p] = parts[p]
			}
		}
	}
	if flatAll(parts) != flatAll(want) {
		r.t.Fatalf("message %d is\n%.2000s\nand was appended as\n%.2000s", e.index, flatAll(parts), flatAll(want))
	}
}

// standsFor says whether a citation is of the content that was a part of a message.
func (r *research) standsFor(message, part int32, c *conversation.Citation) bool {
	return c != nil && slices.ContainsFunc(r.held, func(h *held) bool {
		return h.message == message && h.part == part && h.handle == c.ContentID
	})
}

// search demands that a word is found in the contents that have it and can be had, and in no others.
func (r *research) search() {
	r.gone()
	if len(r.held) == 0 {
		return
	}
	words := marks.FindAllString(rapid.SampledFrom(r.held).Draw(r.t, "looked for").text, -1)
	if len(words) == 0 {
		return
	}
	word := words[len(words)-1]
	got, err := r.journey.engine.SearchContent(ctx, engine.SearchContentRequest{Key: r.key, Query: engine.ExcerptQuery{Terms: []string{word}}})
	if err != nil {
		r.t.Fatalf("search: %v", err)
	}
	has := false
	for _, h := range r.held {
		if hidden := h.message >= 0 && r.record[h.message].hidden; !hidden {
			r.reads(h)
			has = has || !h.gone && strings.Contains(h.text, word)
		}
	}
	for _, x := range got.Excerpts {
		at := slices.IndexFunc(r.held, func(h *held) bool { return h.handle == x.ContentID })
		if at < 0 || r.held[at].gone || r.held[at].message >= 0 && r.record[r.held[at].message].hidden {
			r.t.Fatalf("a search finds something in %s, which is gone, was taken back, or never was", x.ContentID)
		}
	}
	if found := len(got.Excerpts) > 0 && strings.Contains(got.Excerpts[0].Text, word); found != has {
		r.t.Fatalf("%s is in a content: %t, and is found: %t: %+v", word, has, found, got.Excerpts)
	}
}
