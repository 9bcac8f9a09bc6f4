package postgres

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// TestStore_SameRecordTwice_LastStays, as in memory: in one change and in one upload.
func TestStore_SameRecordTwice_LastStays(t *testing.T) {
	t.Parallel()
	s, m := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN}), memory.New(memory.Options{})
	t.Cleanup(func() { _ = m.Close() })
	for name, write := range map[string]func(*testing.T, store.Store) (*talk, conversation.ID){"change": changedTwice, "upload": stagedTwice} {
		t.Run(name, func(t *testing.T) {
			k, staged := write(t, s)
			_, _ = write(t, m)
			q := store.Query{
				Incarnation: staged, Ranges: []store.MessageRange{{Range: conversation.Range{End: 10}}}, Edits: &store.EditRange{},
				Manifest: &store.ManifestRange{Limit: 10}, Outcomes: &store.OutcomeRange{Limit: 10},
			}
			got, err := s.Read(t.Context(), k.key, q)
			must(t, err)
			want, err := m.Read(t.Context(), k.key, q)
			must(t, err)
			got.Head.Epoch, want.Head.Epoch = "", ""
			if diff := cmp.Diff(want, got); diff != "" || got.Messages[0].Tokens != 7 || len(got.Edits) != 1 || len(got.Manifests) != 1 {
				t.Errorf("%s\n%+v", diff, got)
			}
		})
	}
}

// twice are records of which each comes twice, the second one with other values.
func twice(k *talk) (messages []conversation.Message, edits []conversation.Edit, manifests []conversation.Manifest) {
	messages = k.appending().Messages
	messages[0].Index = 0
	messages = append(messages, messages[0])
	messages[1].Tokens = 7
	edits = []conversation.Edit{{Seq: 1, Kind: conversation.EditRestore, Range: conversation.Range{End: 1}, Commit: 1}}
	edits = append(edits, edits[0])
	edits[1].Commit = 2
	return messages, edits, []conversation.Manifest{{Seq: 1, Tokens: 5}, {Seq: 1, Tokens: 7}}
}

func changedTwice(t *testing.T, s store.Store) (*talk, conversation.ID) {
	t.Helper()
	k := newTalk(0)
	first := k.appending()
	_, edits, manifests := twice(k)
	first.Head.EditSeq, first.Edits = 1, edits[:1]
	first.Head.ManifestSeq, first.Manifest = 1, &manifests[0]
	must(t, k.commit(t.Context(), s, first))
	c := k.change()
	c.ReplaceMessages, c.ReplaceEdits, c.ReplaceManifests = twice(k)
	must(t, k.commit(t.Context(), s, c))
	return k, conversation.ID{}
}

func stagedTwice(t *testing.T, s store.Store) (*talk, conversation.ID) {
	t.Helper()
	k := newTalk(1)
	u := &store.Upload{Incarnation: k.head.Incarnation, Time: testTime()}
	u.Messages, u.Edits, u.Manifests = twice(k)
	o := store.Outcome{Key: store.RequestKey{RPC: "Append", ID: "r1"}, Time: testTime(), Revision: 1}
	u.Outcomes = slices.Repeat([]store.Outcome{o}, 2)
	u.Outcomes[1].Revision = 2
	must(t, s.Stage(t.Context(), k.key, u))
	return k, k.head.Incarnation
}
