package storetest

import (
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func durabilityCases() []check {
	return []check{
		{"WhatIsAcknowledgedSurvives", survives},
		{"StagedPiecesOutliveTheProcess", stagedSurvives},
	}
}

// survives checks the claim both ways: a store that says nothing outlives it must begin empty.
func survives(b *box) {
	k := rich(b)
	k.dueAt(start())
	q := everything()
	q.Request = &store.RequestKey{RPC: "r", ID: "i"}
	want := b.read(k.key, q)
	tasks := b.due(start().Add(1000 * time.Hour))
	if !b.reopen() {
		b.absent(k.key, store.Query{})
		return
	}
	b.equal(b.read(k.key, q), want)
	b.equal(b.due(start().Add(1000*time.Hour)), tasks)
	k.commit(say(k.change(), 1))
}

func stagedSurvives(b *box) {
	k, c := staged(b)
	durable := b.reopen()
	err := b.s.Commit(b.ctx, k.key, c)
	if !durable {
		b.wants(err, store.ErrNotFound)
	} else if err != nil && !errors.Is(err, store.ErrNotFound) { // a back end may keep staged pieces in memory until then
		b.Fatal(err)
	}
}
