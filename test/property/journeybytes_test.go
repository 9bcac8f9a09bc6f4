package property

import (
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	stored "github.com/palimpsest-context/palimpsest/pkg/store/record"
)

func (j *journey) bytesCounted() { bytesCounted(j.t, j.store.Store, j.key) }

// bytesCounted holds the head's count of bytes to a count over the record: what callers gave and is there, chunks once.
func bytesCounted(t *rapid.T, s store.Store, k store.Key) {
	t.Helper()
	snap, err := s.Read(ctx, k, store.Query{
		Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}, Edits: &store.EditRange{}, SlotsOf: "content/source/",
	})
	if err != nil {
		t.Fatal(err)
	}
	count := recount{chunks: map[conversation.ID]int64{}}
	for i := range snap.Messages {
		count.bytes += int64(len(snap.Messages[i].Metadata))
		count.parts(snap.Messages[i].Parts)
	}
	for _, e := range snap.Edits {
		for i := range e.Parts {
			if e.Kind == conversation.EditCorrect {
				count.parts([]conversation.Part{e.Parts[i].Shown})
			}
		}
	}
	for _, value := range snap.Slots {
		s, err := stored.DecodeSource(value)
		if err != nil {
			t.Fatal(err)
		}
		count.source(&s)
	}
	for _, size := range count.chunks {
		count.bytes += size
	}
	if snap.Head.Bytes != count.bytes {
		t.Fatalf("the head counts %d bytes, and %d are on record", snap.Head.Bytes, count.bytes)
	}
}

// recount counts what is on record anew.
type recount struct {
	bytes  int64
	chunks map[conversation.ID]int64
}

func (r *recount) parts(parts []conversation.Part) {
	for _, c := range conversation.Contents(parts) {
		r.bytes += int64(len(c.Inline))
		if c.Ref != nil {
			r.chunks[c.Ref.ID] = c.Ref.Bytes
		}
	}
}

func (r *recount) source(s *stored.Source) {
	r.bytes += int64(len(s.Metadata))
	if len(s.Content) > 0 && !s.Expired {
		r.chunks[conversation.ID(s.Content)] = s.Bytes
	}
}
