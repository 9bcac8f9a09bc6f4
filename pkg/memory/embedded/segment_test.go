package embedded

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func drawnTalk(t *rapid.T) *talk {
	n := rapid.IntRange(1, 4).Draw(t, "talk")
	return &talk{int64(n), talkKey{strings.Repeat("t", 30*n), conversation.ID{byte(n)}}}
}

func drawnEntry(t *rapid.T) entry {
	e := entry{
		kind: rapid.SampledFrom([]entryKind{saidEntry, factEntry, noteEntry, goneEntry}).Draw(t, "kind"),
		time: rapid.Int64().Draw(t, "time") >> rapid.IntRange(2, 60).Draw(t, "shift"),
	}
	if e.kind != goneEntry {
		e.line = search.Line{
			Codes: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "codes"), Language: rapid.Byte().Draw(t, "language"), Opening: rapid.Byte().Draw(t, "opening"),
			Question: rapid.Bool().Draw(t, "question"),
		}
	}
	if e.kind == saidEntry || e.kind == goneEntry {
		e.talk, e.index = drawnTalk(t), rapid.Int32Min(0).Draw(t, "index")
		return e
	}
	text := rapid.StringN(0, 40, 100)
	e.more = &details{
		number: rapid.Int64Min(0).Draw(t, "number"), text: text.Draw(t, "text"), saidBy: text.Draw(t, "said by"), key: text.Draw(t, "key"),
		metadata: text.Draw(t, "metadata"), expire: rapid.Int64().Draw(t, "expire"), superseded: rapid.Int64Min(0).Draw(t, "superseded"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "sources") {
		e.more.sources = append(e.more.sources, source{drawnTalk(t), rapid.Int32Min(0).Draw(t, "first"), rapid.Int32Min(0).Draw(t, "last"), rapid.Int64().Draw(t, "source time")})
	}
	return e
}

var sameEntries = cmp.Options{cmp.AllowUnexported(entry{}, details{}, source{}, talk{}, talkKey{}, directory{}, segmentRef{}), cmpopts.EquateEmpty()}

// What is encoded is read again, takes no more than it is taken to, and nothing that is cut off or changed makes reading fail but by an error.
func TestSegment_Any_IsReadAgain(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		s := &segment{entries: rapid.SliceOfN(rapid.Custom(drawnEntry), 0, 12).Draw(t, "entries")}
		value, size := s.encode(), 16
		for i := range s.entries {
			size += s.entries[i].size()
		}
		if len(value) > size {
			t.Fatalf("%d bytes, taken for %d", len(value), size)
		}
		again, err := decodeSegment(segmentRef{3, 4}, value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.entries, again.entries, sameEntries); diff != "" {
			t.Fatal(diff)
		}
		if cut := rapid.IntRange(0, max(0, len(value)-1)).Draw(t, "cut"); cut < len(value) {
			if _, err := decodeSegment(segmentRef{}, value[:cut]); err == nil && len(s.entries) > 0 {
				t.Fatal("a segment that was cut off is read")
			}
		}
		if at := rapid.IntRange(0, len(value)-1).Draw(t, "at"); at > 0 {
			value[at] ^= rapid.ByteMin(1).Draw(t, "flip")
			_, _ = decodeSegment(segmentRef{}, value)
		}
	})
}

func TestDirectory_Any_IsReadAgain(t *testing.T) {
	d := directory{mark: 1, talks: 2, numbers: 3, slots: 4, left: 5, segments: []segmentRef{{1, 9}, {4, 1 << 40}}}
	value := d.encode()
	again, err := decodeDirectory(value)
	if diff := cmp.Diff(d, again, sameEntries); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for cut := range value {
		if _, err := decodeDirectory(value[:cut]); err == nil {
			t.Errorf("a directory of %d bytes is read", cut)
		}
	}
}

func FuzzDecodeSegment(f *testing.F) {
	s := &segment{entries: []entry{{kind: saidEntry, talk: &talk{1, talkKey{"a", conversation.ID{1}}}, line: search.NewLine("The bees.", nil)}}}
	f.Add(s.encode())
	f.Add([]byte{layout, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, value []byte) {
		if s, err := decodeSegment(segmentRef{}, value); err == nil {
			newIndex(store.Head{}, directory{}, []*segment{s}).sorted()
		}
	})
}

// A draft makes segments that fit in slots and keep all there is, however often it is changed.
func TestDraft_ManyChanges_KeepSegmentsInBounds(t *testing.T) {
	x, want := newIndex(store.Head{}, directory{}, nil), map[string]bool{}
	for round := range 120 {
		d := newDraft(x, memory.Scope{}, 0)
		for i := range 5 {
			name := fmt.Sprintf("talk %d", (round*7+i)%11)
			e := &entry{
				kind: saidEntry, talk: d.talkOf(talkKey{name, conversation.ID{byte((round*7 + i) % 11)}}), index: int32(round*5 + i), time: int64(round),
				line: search.Line{Codes: make([]byte, 3*((round*131+i*977)%3000))},
			}
			d.add(e)
			want[e.id(d.tag)] = true
		}
		n := 0
		for e := range d.entries() {
			if n++; (n*31+round)%6 == 0 {
				delete(want, e.id(d.tag))
				d.remove(e)
			}
		}
		var c *store.Change
		var err error
		if x, c, err = d.commit(store.Head{Version: uint64(round + 1)}, 1<<30, 1<<40); err != nil {
			t.Fatal(err)
		}
		for name, value := range c.Slots {
			if len(value) > store.MaxSlot {
				t.Fatalf("%s has %d bytes", name, len(value))
			}
		}
		for i := range len(x.segments) - 1 {
			if x.segments[i].bytes == 0 {
				t.Error("an empty segment")
			}
		}
	}
	var got []string
	for e := range x.entries() {
		got = append(got, e.id(tagOf(memory.Scope{})))
	}
	slices.Sort(got)
	if len(got) != len(want) || slices.ContainsFunc(got, func(id string) bool { return !want[id] }) {
		t.Errorf("%d entries, %d are to be there", len(got), len(want))
	}
	if most := int(x.stored()/(segmentBytes/3)) + 2; len(x.segments) > most {
		t.Errorf("%d segments for %d bytes", len(x.segments), x.stored())
	}
}

// What was written is read for ever: these are slots of layout 1, one entry of each kind.
func TestSegment_Layout1_IsRead(t *testing.T) {
	of := &talk{7, talkKey{"a talk", conversation.ID{1, 2, 3}}}
	want := []entry{
		{kind: saidEntry, talk: of, index: 3, time: 1_772_366_400_000, line: search.Line{Codes: []byte{1, 2, 3}, Language: 2, Opening: 1, Question: true}},
		{kind: factEntry, time: 1_772_366_400_000, line: search.Line{Codes: []byte{4, 5, 6}}, more: &details{
			number: 5, text: "A fact.", saidBy: "user", superseded: 9, expire: 12, sources: []source{{of, 3, 4, 1_772_366_400_000}},
		}},
		{kind: noteEntry, time: 1_772_366_300_000, line: search.Line{Codes: []byte{7, 8, 9}}, more: &details{number: 6, text: "A note.", key: "k", metadata: "{}"}},
		{kind: goneEntry, talk: of, index: 4, time: 1_772_366_400_000},
	}
	const stored = "0101010e06612074616c6b01020300000000000000000000000000048180a8a8949567000302010301020302000000030405060a1812074120666163742e047573657200000100030480a8a894956703bf9a0c0000030708090c00000741206e6f74652e00016b027b7d0004c09a0c0004"
	value := (&segment{entries: want}).encode()
	if got := hex.EncodeToString(value); got != stored {
		t.Errorf("layout 1 is written otherwise: %s", got)
	}
	old, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeSegment(segmentRef{}, old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again.entries, sameEntries); diff != "" {
		t.Error(diff)
	}
	old[0] = layout + 1
	if _, err := decodeSegment(segmentRef{}, old); err == nil {
		t.Error("a layout that is not known is read")
	}
}
