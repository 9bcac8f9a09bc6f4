package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// sameContent reads a content in every way there is. What comes before an error must be right too.
func (f *fixture) sameContent(o *op, want []byte) []error {
	got, err := f.Stream(f.ctx, &pb.StreamContentRequest{ConversationId: "c", ContentId: o.handles})
	if !bytes.HasPrefix(want, got) || err == nil && len(got) != len(want) {
		return []error{fmt.Errorf("content %s comes back as another", o.handles)}
	}
	return []error{
		err,
		f.sameBytes(o, want, [2]int64{0, int64(len(want))}),
		f.sameBytes(o, want, [2]int64{int64(len(want)) / 2, int64(len(want)) * 3 / 4}),
		f.sameWhole(o, want),
		f.sameExcerpts(o, want),
		f.sameSource(o, want),
	}
}

// sameBytes reads a range of a content.
func (f *fixture) sameBytes(o *op, want []byte, span [2]int64) error {
	reply, err := f.retrieve(&pb.RetrieveContentRequest{ContentId: o.handles, Selection: &pb.RetrieveContentRequest_Range{
		Range: &pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: &pb.Span{StartIndex: span[0], EndIndex: new(span[1])}}},
	}})
	if err != nil {
		return err
	}
	from, to := reply.GetByteRange().GetStartIndex(), reply.GetByteRange().GetEndIndex()
	if from < 0 || to < from || to > int64(len(want)) || !bytes.Equal(reply.GetChunk(), want[from:to]) {
		return fmt.Errorf("bytes %v of content %s come back as others", span, o.handles)
	}
	return nil
}

func (f *fixture) sameWhole(o *op, want []byte) error {
	reply, err := f.retrieve(&pb.RetrieveContentRequest{ContentId: o.handles, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}})
	if err == nil && !bytes.Equal(reply.GetChunk(), want) {
		err = fmt.Errorf("content %s is retrieved as another", o.handles)
	}
	return err
}

func (f *fixture) sameExcerpts(o *op, want []byte) error {
	reply, err := f.retrieve(&pb.RetrieveContentRequest{ContentId: o.handles, Selection: &pb.RetrieveContentRequest_Excerpts{
		Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"forty lines", "日本語"}, MaxExcerpts: 100},
	}})
	if process.Reason(err) == "CONTENT_NOT_TEXT" && o.kind == storing && (!utf8.Valid(want) || bytes.IndexByte(want, 0) >= 0) {
		return nil
	}
	for _, x := range reply.GetExcerpts() {
		err = errors.Join(err, quotes(x, want))
	}
	return err
}

func (f *fixture) retrieve(request *pb.RetrieveContentRequest) (*pb.RetrieveContentResponse, error) {
	request.ConversationId, request.MaxReplyBytes = "c", new(int32(64<<20))
	return f.Contents.RetrieveContent(f.ctx, request)
}

// sameSource reads what is listed of a content.
func (f *fixture) sameSource(o *op, want []byte) error {
	listed, err := sources(f.ctx, f.Client, "c")
	if err != nil {
		return err
	}
	for _, s := range listed {
		if s.GetContentId() != o.handles {
			continue
		}
		if s.GetSha256() != digest(want) || s.GetTotalBytes() != int64(len(want)) {
			return fmt.Errorf("the record of content %s is another's", o.handles)
		}
		return nil
	}
	return fmt.Errorf("content %s is not listed", o.handles)
}

// sameSearch searches all contents.
func (f *fixture) sameSearch() error {
	kept := map[string][]byte{}
	for _, o := range f.ledger.ops {
		switch o.kind {
		case storing:
			kept[o.handles] = o.content()
		case citing:
			kept[o.handles] = []byte(o.messages()[1].GetParts()[0].GetToolResult().GetText())
		}
	}
	return f.ledger.checkSearch(f.ctx, f.Client, kept)
}

// kindMessage is what the keys of messages have behind the id of their conversation.
const kindMessage = 0x60

// held are the values that a file keeps of contents: chunks, source records, and the messages that say what is cited.
func held(t *testing.T, file string) (out [][]byte) {
	t.Helper()
	out = values(t, file, "chunks", func([]byte) bool { return true })
	return append(out, values(t, file, "records", func(key []byte) bool {
		return bytes.Contains(key, []byte("content/source/")) || len(key) > 16 && key[16] == kindMessage
	})...)
}

// TestCorrupt_FlippedBitInStoredValue_IsNeverServed flips a bit of a value that a content is kept in, one value at a time: the content
// is neither streamed, retrieved, listed nor found with it, and somebody is told.
func TestCorrupt_FlippedBitInStoredValue_IsNeverServed(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	for i, s := range []uint64{0, 1, 2, 3, 4, 5} {
		f.need(f.make(&op{kind: storing, request: fmt.Sprint("stored-", i), seed: s}))
		f.need(f.make(&op{kind: citing, request: fmt.Sprint("cited-", i), seed: s}))
	}
	k := f.keep()
	all := held(t, path(f.folder))
	for i := range min(len(all), 2*flips*roundsOf(t)/defaultRounds) {
		value := all[i]
		if len(all) > 2*flips {
			value = all[r.IntN(len(all))]
		}
		k.flip(t, r, value)
	}
	t.Logf("%d values", len(all))
}

// flip flips a bit of a value wherever it stands in the file: there may be old copies.
func (k *kept) flip(t *testing.T, r *rand.Rand, value []byte) {
	t.Helper()
	file, at, found := bytes.Clone(k.file), r.IntN(len(value)), false
	for from := 0; ; from++ {
		next := bytes.Index(file[from:], value)
		if next < 0 {
			break
		}
		from += next
		file[from+at] ^= 1 << r.IntN(8)
		found = true
	}
	f := k.over(t, file)
	if !found || f == nil {
		t.Fatalf("the value was found: %t; the sidecar starts: %t", found, f != nil)
	}
	damaged, err := f.honest()
	f.need(err)
	if damaged == 0 {
		t.Errorf("a flipped bit at byte %d of a value of %d was not noticed", at, len(value))
	}
	f.sidecar.Kill()
}
