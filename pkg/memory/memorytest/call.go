package memorytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// How calls behave.
func callCases() []check {
	return []check{
		{"a call ends with its context", ofAnna(endedContext)},
		{"calls at a time keep out of each other's way", concurrentCalls},
	}
}

func endedContext(b *box, s memory.Scope) {
	id := b.put(s, facts()[0])
	b.remembers(s, facts()[0])
	ended, cancel := context.WithCancel(b.ctx)
	cancel()
	batch := b.batch(s, "talk", 0, facts()[1])
	for name, call := range map[string]func() error{
		"Add":    func() error { _, err := b.target.Add(ended, batch); return err },
		"Settle": func() error { _, err := b.target.Settle(ended, batch); return err },
		"Put":    func() error { _, err := b.target.Put(ended, s, &memory.Note{Key: "k", Text: facts()[1]}); return err },
		"Search": func() error { _, err := b.target.Search(ended, s, &memory.Query{Text: "bees", Limit: 1}); return err },
		"List":   func() error { _, err := b.target.List(ended, s, &memory.Page{Limit: 1}); return err },
		"Delete": func() error { _, err := b.target.Delete(ended, s, []string{id}); return err },
		"Retract": func() error {
			_, err := b.target.Retract(ended, s, &memory.Retraction{Conversation: "talk"})
			return err
		},
		"Forget": func() error { _, err := b.target.Forget(ended, s, now()); return err },
	} {
		begin := time.Now()
		err := call()
		switch {
		case name == "Settle" && b.limits.Idempotent:
		case err == nil:
			b.Errorf("%s with an ended context has no error", name)
		case errors.Is(err, memory.ErrRefused), errors.Is(err, memory.ErrDenied), errors.Is(err, memory.ErrNotFound):
			b.Errorf("%s takes an ended context for the target's answer: %v", name, err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			b.Errorf("%s took %v after its context ended", name, took)
		}
	}
	b.remembers(s, facts()[0])
}

func concurrentCalls(b *box) {
	callers := min(b.limits.Concurrency, 8)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			own := memory.Scope{Namespace: b.space, Kind: memory.ScopeUser, ID: fmt.Sprint("user", i)}
			shared := b.user("shared")
			batch := b.batch(own, fmt.Sprint("talk", i), 0, facts()[i])
			if _, err := b.target.Add(b.ctx, batch); err != nil {
				b.Errorf("Add: %v", err)
			}
			note := &memory.Note{Key: b.key(), Text: facts()[i], Time: now()}
			if _, err := b.target.Put(b.ctx, shared, note); err != nil {
				b.Errorf("Put: %v", err)
			}
			if _, err := b.target.Search(b.ctx, shared, &memory.Query{Text: facts()[i], Limit: 5, Now: now()}); err != nil {
				b.Errorf("Search: %v", err)
			}
		})
	}
	all.Wait()
	b.remembers(b.user("shared"), facts()[:callers]...)
	for i := range callers {
		b.remembers(b.user(fmt.Sprint("user", i)), facts()[i])
	}
	b.equal(len(b.list(b.user("shared"), 50)), callers)
}
