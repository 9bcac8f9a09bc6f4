package bolt

import (
	"bytes"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// keysOf counts the keys of all buckets.
func keysOf(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	err := s.view(t.Context(), func(x *tx) error {
		return x.tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { n++; return nil })
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStore_Append_WritesTwoRecords: these are the message and the head, if there was a head before. A request id adds its
// outcome, and an unchanged due time adds nothing.
func TestStore_Append_WritesTwoRecords(t *testing.T) {
	f := openFlaky(t, Options{})
	c := appendChange(1, 0, "text")
	c.Head.NextDue = time.Unix(2_000_000_000, 0)
	for n := int32(0); ; n++ {
		before := keysOf(t, f.Store)
		if err := f.Commit(t.Context(), ratioKey(1), c); err != nil {
			t.Fatal(err)
		}
		added := keysOf(t, f.Store) - before
		switch n {
		case 0: // name, head, message, due
			wantKeys(t, added, 4)
		case 1:
			wantKeys(t, added, 1)
		case 2: // the one with the request id
			wantKeys(t, added, 2)
			return
		}
		c = appendChange(1, n+1, "text")
		c.Head.NextDue = time.Unix(2_000_000_000, 0)
		if n == 1 {
			c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: "r", ID: "1"}}
		}
	}
}

func wantKeys(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%d more keys, wanted %d", got, want)
	}
}

// TestKeys_Head_FollowsNewestMessage: no key of the conversation may sort between the two, or after the head.
func TestKeys_Head_FollowsNewestMessage(t *testing.T) {
	id := ratioID(1)
	message, head := messageKey(id, 1<<31-1), headKey(id)
	for name, key := range map[string][]byte{
		"edit": editKey(id, kindEdit, 1<<62), "narrow": narrowKey(id, 1<<30, 1<<62), "wide": editKey(id, kindWide, 1),
		"manifest": manifestKey(id, 1<<62), "slot": slotKey(id, "\xff\xff"), "info": infoKey(id),
		"outcome": outcomeKey(id, store.RequestKey{RPC: "\xff", ID: "\xff"}),
	} {
		if bytes.Compare(key, messageKey(id, 0)) >= 0 {
			t.Errorf("%s sorts behind a message", name)
		}
	}
	if bytes.Compare(message, head) >= 0 {
		t.Error("the head does not sort behind the messages")
	}
}

// TestKeys_EditAboutAContent_IsNoWideOne: every answer about some messages looks at all wide edits, and contents may be many.
func TestKeys_EditAboutAContent_IsNoWideOne(t *testing.T) {
	id := ratioID(1)
	for _, r := range []conversation.Range{{First: 0, End: 0}, {First: 7, End: 7}, {First: 7, End: 8}} {
		e := conversation.Edit{Seq: 9, Kind: conversation.EditStoreContent, Range: r}
		if !bytes.Equal(indexKey(id, &e), narrowKey(id, r.First, 9)) {
			t.Errorf("an edit about %v is not found by its message", r)
		}
	}
	wide := conversation.Edit{Seq: 9, Kind: conversation.EditRemove, Range: conversation.Range{First: 7, End: 9}}
	if !bytes.Equal(indexKey(id, &wide), editKey(id, kindWide, 9)) {
		t.Error("an edit about two messages is found by one of them")
	}
}

// TestKeys_Time_SortsAsTimesDo, before 1970 too.
func TestKeys_Time_SortsAsTimesDo(t *testing.T) {
	times := []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Unix(-1, 5), time.Unix(0, 0), time.Unix(0, 1), time.Unix(255, 0),
		time.Unix(256, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for i := 1; i < len(times); i++ {
		if bytes.Compare(appendTime(nil, times[i-1]), appendTime(nil, times[i])) >= 0 {
			t.Errorf("%v does not sort before %v", times[i-1], times[i])
		}
	}
}
