package storetest

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func readCases() []check {
	return []check{
		{"UnknownNameIsNotFound", unknownName},
		{"MissingIsLeftOut", missingIsLeftOut},
		{"IfNewerGivesTheHeadAlone", of(ifNewer)},
		{"IncarnationIsDemanded", of(incarnationDemanded)},
		{"RangesLimitsReverse", rangesLimitsReverse},
		{"MaxTokensEndsAfterReachingIt", of(maxTokens)},
		{"InfoComesOnDemandAndStays", of(infoStays)},
		{"ManifestsNewestFirst", of(manifestsNewestFirst)},
	}
}

func unknownName(b *box) {
	b.begin(name("a"))
	for _, key := range []store.Key{name("b"), {Namespace: "other", Conversation: "a"}, {Namespace: "default"}, {}} {
		b.absent(key, everything())
	}
}

func missingIsLeftOut(b *box) {
	k := b.unborn(name("a"))
	k.commit(k.change())
	snap := b.read(k.key, store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{First: 5, End: 9}}, {Range: conversation.Range{First: 3, End: 2}}},
		Edits: &store.EditRange{}, Since: &store.Since{Limit: 10}, Request: &store.RequestKey{RPC: "x"},
		Manifest: &store.ManifestRange{Limit: 3}, Slots: []string{"s"}, SlotsOf: "s", Contents: []store.ContentRange{{ID: b.id(), Length: -1}},
	})
	b.equal(snap, &store.Snapshot{Head: k.head, Contents: [][]byte{nil}})
	if snap.Contents[0] != nil || snap.Info != nil {
		b.Fatal("what is not there is not nil")
	}
}

func ifNewer(k *talk) {
	k.commit(say(k.change(), 1))
	q := everything()
	q.IfNewer = k.head.Version
	k.equal(k.read(k.key, q), &store.Snapshot{Head: k.head})
	k.commit(say(k.change(), 1))
	if n := len(k.read(k.key, q).Messages); n != 2 {
		k.Fatalf("%d messages of a conversation that moved", n)
	}
}

func incarnationDemanded(k *talk) {
	k.read(k.key, store.Query{Incarnation: k.head.Incarnation})
	k.absent(k.key, store.Query{Incarnation: k.id()})
	other := k.begin(name("b"))
	k.absent(k.key, store.Query{Incarnation: other.head.Incarnation})
}

func rangesLimitsReverse(b *box) {
	// Conversations on both sides, so that an answer that runs over an edge is seen.
	for _, n := range []string{"0", "z"} {
		k := b.begin(name(n))
		k.commit(say(k.change(), 1, 1, 1))
	}
	k := b.begin(name("a"))
	for range 3 {
		k.commit(say(k.change(), 1, 1, 1, 1))
	}
	for _, c := range []struct {
		q    store.MessageRange
		want []int32
	}{
		{store.MessageRange{Range: all()}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{store.MessageRange{Range: span(3, 6)}, []int32{3, 4, 5}},
		{store.MessageRange{Range: span(3, 6), Limit: 2}, []int32{3, 4}},
		{store.MessageRange{Range: span(3, 6), Limit: 9}, []int32{3, 4, 5}},
		{store.MessageRange{Range: span(3, 6), Reverse: true}, []int32{5, 4, 3}},
		{store.MessageRange{Range: span(0, 12), Reverse: true, Limit: 2}, []int32{11, 10}},
		{store.MessageRange{Range: all(), Reverse: true, Limit: 1}, []int32{11}},
		{store.MessageRange{Range: span(0, 2), Reverse: true}, []int32{1, 0}},
		{store.MessageRange{Range: span(10, 40)}, []int32{10, 11}},
		{store.MessageRange{Range: span(12, 40), Reverse: true}, nil},
		{store.MessageRange{Range: span(4, 4)}, nil},
	} {
		b.equal(k.messages(c.q), c.want)
	}
	both := b.read(k.key, store.Query{Ranges: []store.MessageRange{{Range: span(7, 9)}, {Range: span(1, 3), Reverse: true}}})
	b.equal(indices(both.Messages), []int32{7, 8, 2, 1})
}

func maxTokens(k *talk) {
	k.commit(say(k.change(), 10, 20, 30, 40))
	for _, c := range []struct {
		max     int64
		reverse bool
		want    []int32
	}{
		{9, false, []int32{0}},
		{10, false, []int32{0}},
		{11, false, []int32{0, 1}},
		{1000, false, []int32{0, 1, 2, 3}},
		{40, true, []int32{3}},
		{41, true, []int32{3, 2}},
	} {
		k.equal(k.messages(store.MessageRange{Range: all(), MaxTokens: c.max, Reverse: c.reverse}), c.want)
	}
}

func infoStays(k *talk) {
	k.commit(say(k.change(), 1))
	if snap := k.read(k.key, store.Query{}); snap.Info != nil {
		k.Fatal("attributes that nobody asked for")
	}
	k.equal(k.read(k.key, store.Query{Info: true}).Info, &store.Info{Title: "a", Metadata: `{"a":1}`})
	c := k.change()
	share := int32(0)
	c.Info = &store.Info{Title: "new", Policy: conversation.Policy{Fit: conversation.FitPolicy{MaxResultPercent: &share}}}
	k.commit(c)
	k.equal(k.read(k.key, store.Query{Info: true}).Info, c.Info)
}

func manifestsNewestFirst(k *talk) {
	for range 5 {
		k.commit(build(k.change()))
	}
	ask := func(before int64, limit int) (out []int64) {
		for _, m := range k.read(k.key, store.Query{Manifest: &store.ManifestRange{Before: before, Limit: limit}}).Manifests {
			out = append(out, m.Seq)
		}
		return out
	}
	k.equal(ask(0, 10), []int64{5, 4, 3, 2, 1})
	k.equal(ask(0, 2), []int64{5, 4})
	k.equal(ask(4, 2), []int64{3, 2})
	k.equal(ask(1, 2), []int64(nil))
	c := k.change()
	c.DropManifests = 4
	k.commit(c)
	k.equal(ask(0, 10), []int64{5, 4})
}
