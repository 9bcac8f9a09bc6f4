// Package memorytest holds every target to the contract of package memory, through its Limits both ways: what a target promises it is held
// to, and what it does not promise it is used as if it could not.
package memorytest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Options says what the suite may expect of a target beyond its Limits.
type Options struct {
	// Patience is how long an Async target may take until what was added is found and what was forgotten is gone; 10 s by default.
	Patience time.Duration
	// Lose makes the back end do what it is asked next and lose the answer; nil where tests cannot.
	Lose func(t testing.TB, target memory.Target)
}

// Factory gives a target for one test. It may be the same for all: no two tests use the same scopes.
type Factory func(t testing.TB) memory.Target

// Run holds a target to the contract.
func Run(t *testing.T, open Factory, o Options) {
	t.Helper()
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	for _, group := range []struct {
		name  string
		cases []check
	}{
		{"Add", addCases()},
		{"Note", noteCases()},
		{"Text", textCases()},
		{"Read", readCases()},
		{"Scope", scopeCases()},
		{"Forget", forgetCases()},
		{"Call", callCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newBox(t, open, o)) })
			}
		})
	}
}

// check is one clause of the contract.
type check struct {
	name string
	run  func(*box)
}

// ofAnna is a clause about one user.
func ofAnna(run func(b *box, s memory.Scope)) func(*box) {
	return func(b *box) { run(b, b.user("anna")) }
}

// box is a test with a namespace of its own.
type box struct {
	*testing.T
	ctx    context.Context
	o      Options
	target memory.Target
	limits memory.Limits
	space  string

	mu   sync.Mutex
	keys int
	last map[string]time.Time // when a conversation's last batch was sent
}

func newBox(t *testing.T, open Factory, o Options) *box {
	target := open(t)
	sum := sha256.Sum256([]byte(t.Name()))
	return &box{
		T: t, ctx: t.Context(), o: o, limits: target.Limits(), space: "space-" + hex.EncodeToString(sum[:6]),
		target: &watched{Target: target, t: t}, last: map[string]time.Time{},
	}
}

// now is the time at which all tests take place: targets have no clock of their own for what expires.
func now() time.Time { return time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC) }

func (b *box) user(id string) memory.Scope {
	return memory.Scope{Namespace: b.space, Kind: memory.ScopeUser, ID: id}
}

func (b *box) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *box) wants(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error is %v, and must be %v", err, want)
	}
}

func (b *box) equal(got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("wanted (-), got (+):\n%s", diff)
	}
}

// eventually waits until nothing is wrong any more, if the target may take its time.
func (b *box) eventually(wrong func() string) {
	b.Helper()
	end := time.Now()
	if b.limits.Async {
		end = end.Add(b.o.Patience)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		what := wrong()
		if what == "" {
			return
		}
		if !time.Now().Before(end) {
			b.Fatal(what)
		}
		b.sleep(pause)
	}
}

// until waits until something is so, if the target may take its time.
func (b *box) until(not string, is func() bool) {
	b.Helper()
	b.eventually(func() string {
		if is() {
			return ""
		}
		return not
	})
}

func (b *box) sleep(d time.Duration) {
	b.Helper()
	select {
	case <-b.ctx.Done():
		b.Fatal("the test ended")
	case <-time.After(d):
	}
}

// key makes a key that no other has.
func (b *box) key() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys++
	return fmt.Sprintf("%s-%d", b.space, b.keys)
}

// batch is what a user says in a conversation, from an index on.
func (b *box) batch(s memory.Scope, name string, first int32, texts ...string) *memory.Batch {
	out := &memory.Batch{
		Scope: s, Conversation: name, Incarnation: conversation.ID{1, 2, 3}, Key: b.key(), Session: "1", Infer: true,
	}
	for i, text := range texts {
		out.Messages = append(out.Messages, memory.Message{
			Index: first + int32(i), Role: conversation.RoleUser, Text: text, Time: now().Add(time.Duration(i-60) * time.Minute),
		})
	}
	return out
}

// add gives the target a batch and waits until it has settled.
func (b *box) add(batch *memory.Batch) memory.Receipt {
	b.Helper()
	b.pace(batch.Conversation)
	receipt, err := b.target.Add(b.ctx, batch)
	b.must(err)
	return b.settled(batch, receipt)
}

// pace keeps to the target's interval between batches of a conversation.
func (b *box) pace(name string) {
	b.Helper()
	b.mu.Lock()
	wait := time.Until(b.last[name].Add(b.limits.Interval))
	b.last[name] = time.Now().Add(max(wait, 0))
	b.mu.Unlock()
	if wait > 0 {
		b.sleep(wait)
	}
}

func (b *box) settled(batch *memory.Batch, receipt memory.Receipt) memory.Receipt {
	b.Helper()
	b.until("the batch is still pending", func() bool {
		if receipt.Pending {
			var err error
			receipt, err = b.target.Settle(b.ctx, batch)
			b.must(err)
		}
		return !receipt.Pending
	})
	return receipt
}

func (b *box) put(s memory.Scope, text string) string {
	b.Helper()
	id, err := b.target.Put(b.ctx, s, &memory.Note{Key: b.key(), Text: text, Time: now()})
	b.must(err)
	return id
}

func (b *box) search(s memory.Scope, text string) []memory.Memory {
	b.Helper()
	out, err := b.target.Search(b.ctx, s, &memory.Query{Text: text, Limit: 20, Now: now()})
	b.must(err)
	return out
}

// list reads a scope to its last page.
func (b *box) list(s memory.Scope, limit int, kinds ...memory.Kind) (out []memory.Memory) {
	b.Helper()
	page := &memory.Page{Limit: limit, Kinds: kinds, Now: now()}
	for range 1000 {
		listing, err := b.target.List(b.ctx, s, page)
		b.must(err)
		out = append(out, listing.Memories...)
		if page.Token = listing.Next; page.Token == "" {
			return out
		}
	}
	b.Fatal("a listing without end")
	return nil
}

// remembers waits until a scope holds each of the texts, and both search and list show them.
func (b *box) remembers(s memory.Scope, texts ...string) {
	b.Helper()
	for _, text := range texts {
		b.eventually(func() string {
			if count(b.search(s, text), text) == 0 {
				return fmt.Sprintf("search does not find %q", text)
			}
			if count(b.list(s, 50), text) == 0 {
				return fmt.Sprintf("the list does not hold %q", text)
			}
			return ""
		})
	}
}

// forgot waits until a scope holds none of the texts.
func (b *box) forgot(s memory.Scope, texts ...string) {
	b.Helper()
	for _, text := range texts {
		b.until(fmt.Sprintf("still there: %q", text), func() bool { return count(b.search(s, text), text)+count(b.list(s, 50), text) == 0 })
	}
}

// count says how many memories hold a text.
func count(memories []memory.Memory, text string) (n int) {
	for i := range memories {
		if strings.Contains(memories[i].Text, text) {
			n++
		}
	}
	return n
}

func ids(memories []memory.Memory) (out []string) {
	for i := range memories {
		out = append(out, memories[i].ID)
	}
	return out
}

// Sentences that state something, and share no subject: nothing that draws facts leaves one out or thinks that one contradicts another.
func facts() []string {
	return []string{
		"My sister Marguerite keeps eleven bees in Lisbon.",
		"I am allergic to walnuts.",
		"Never call me before 9:30 on Thursdays.",
		"Our invoice number is QX-4471.",
		"I prefer React over Vue.",
		"My car is a Saab from 1987.",
		"We moved to Utrecht in 2019.",
		"The budget of the kitchen is 12,400 euros.",
	}
}
