package storetest

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func logCases() []check {
	return []check{
		{"EditsInOrderOfSequence", editsInOrder},
		{"EditsOfRanges", editsOfRanges},
		{"SinceGivesWholeCommits", sinceWholeCommits},
		{"SincePagesWithoutGapOrRepeat", of(sincePages)},
		{"SummariesComeBackWhole", of(summariesComeBackWhole)},
		{"EditsAboutContents", editsAboutContents},
		{"CorrectionsComeWithEveryMessage", correctionsAlways},
		{"CitationsComeBackWhole", of(citationsComeBackWhole)},
	}
}

// edited is a conversation with an edit of each kind.
func edited(b *box) *talk {
	k := b.begin(name("a"))
	k.commit(say(k.change(), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
	k.commit(edit(edit(k.change(), conversation.EditParts, 2, 3), conversation.EditMask, 7, 8)) // 1, 2
	k.commit(edit(k.change(), conversation.EditRemove, 4, 7))                                   // 3
	k.commit(edit(k.change(), conversation.EditSummarize, 0, 4))                                // 4
	k.commit(edit(k.change(), conversation.EditParts, 2, 3))                                    // 5
	k.commit(edit(k.change(), conversation.EditRestore, 2, 3))                                  // 6
	k.commit(edit(k.change(), conversation.EditHide, 9, 10))                                    // 7
	k.commit(edit(k.change(), conversation.EditRemove, 9, 10))                                  // 8
	return k
}

func (k *talk) edits(q store.EditRange) []int64 {
	k.Helper()
	return seqs(k.read(k.key, store.Query{Edits: &q}).Edits)
}

func editsInOrder(b *box) {
	k := edited(b)
	b.equal(k.edits(store.EditRange{}), []int64{1, 2, 3, 4, 5, 6, 7, 8})
	b.equal(k.edits(store.EditRange{After: 2, Upto: 5}), []int64{3, 4, 5})
	b.equal(k.edits(store.EditRange{After: 8}), []int64(nil))
	b.equal(k.edits(store.EditRange{Upto: 1}), []int64{1})
}

// editsOfRanges: 4, 6 and 7 are about ranges and always come.
func editsOfRanges(b *box) {
	k := edited(b)
	for _, c := range []struct {
		q    store.EditRange
		want []int64
	}{
		{store.EditRange{Of: []conversation.Range{span(2, 3)}}, []int64{1, 4, 5, 6, 7}},
		{store.EditRange{Of: []conversation.Range{span(3, 4)}}, []int64{4, 6, 7}},
		{store.EditRange{Of: []conversation.Range{span(6, 8)}}, []int64{2, 3, 4, 6, 7}},
		{store.EditRange{Of: []conversation.Range{span(5, 6)}}, []int64{3, 4, 6, 7}},
		{store.EditRange{Of: []conversation.Range{span(9, 10), span(0, 3), span(2, 3)}}, []int64{1, 4, 5, 6, 7, 8}},
		{store.EditRange{Of: []conversation.Range{span(2, 3)}, After: 1, Upto: 6}, []int64{4, 5, 6}},
		{store.EditRange{Of: []conversation.Range{span(4, 4)}}, []int64{4, 6, 7}},
		{store.EditRange{Of: []conversation.Range{all()}}, []int64{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		b.equal(k.edits(c.q), c.want)
	}
}

// correctionsAlways: summaries over other messages may have been made of the words that a correction replaced.
func correctionsAlways(b *box) {
	k := edited(b)
	k.commit(edit(k.change(), conversation.EditCorrect, 0, 1)) // 9
	b.equal(k.edits(store.EditRange{Of: []conversation.Range{span(3, 4)}}), []int64{4, 6, 7, 9})
}

// history is commits of 1 message; 3 messages and an edit; nothing; an edit; 1 message.
func history(b *box) *talk {
	k := b.begin(name("a")) // version 1
	k.commit(say(k.change(), 1))
	k.commit(edit(say(k.change(), 1, 1, 1), conversation.EditRemove, 0, 1))
	k.commit(k.change())
	k.commit(edit(k.change(), conversation.EditRemove, 1, 2))
	k.commit(say(k.change(), 1))
	return k
}

func (k *talk) since(version uint64, limit int) ([]int32, []int64) {
	k.Helper()
	snap := k.read(k.key, store.Query{Since: &store.Since{Version: version, Limit: limit}})
	return indices(snap.Messages), seqs(snap.Edits)
}

func sinceWholeCommits(b *box) {
	k := history(b)
	for _, c := range []struct {
		version  uint64
		limit    int
		messages []int32
		edits    []int64
	}{
		{0, 100, []int32{0, 1, 2, 3, 4}, []int64{1, 2}},
		{1, 100, []int32{0, 1, 2, 3, 4}, []int64{1, 2}},
		{2, 100, []int32{1, 2, 3, 4}, []int64{1, 2}},
		{3, 100, []int32{4}, []int64{2}},
		{4, 100, []int32{4}, []int64{2}},
		{5, 100, []int32{4}, nil},
		{6, 100, nil, nil},
		{99, 100, nil, nil},
		{0, 1, []int32{0}, nil},
		{0, 4, []int32{0}, nil}, // the next commit has four
		{0, 5, []int32{0, 1, 2, 3}, []int64{1}},
		{2, 1, []int32{1, 2, 3}, []int64{1}}, // the first one comes whole
	} {
		messages, edits := k.since(c.version, c.limit)
		b.equal(messages, c.messages)
		b.equal(edits, c.edits)
	}
}

func sincePages(k *talk) {
	var want []int32
	for i := range 40 {
		c := k.change()
		for range i%3 + 1 {
			want = append(want, c.Head.Messages)
			say(c, 1)
		}
		k.commit(c)
	}
	for _, limit := range []int{1, 2, 5, 1000} {
		got := paged(func(after *conversation.Message) []conversation.Message {
			q := &store.Since{Limit: limit}
			if after != nil {
				q.Version = after.Commit
			}
			return k.read(k.key, store.Query{Since: q}).Messages
		})
		k.equal(indices(got), want)
	}
}
