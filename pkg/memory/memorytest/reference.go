package memorytest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Reference is a target in memory that promises what its Limits say and no more. It keeps each message that is added: as it is, or as a fact
// if the batch asks for inferring. Tests of what talks to targets break it by Fault.
type Reference struct {
	limits memory.Limits

	mu       sync.Mutex
	memories []kept
	sent     map[string]bool // batches, by scope and key
	next     int
	fault    func(call string) Fault
}

// kept is a memory and the call it came by.
type kept struct {
	memory.Memory
	key  string
	late int // reads until it is seen
}

// Fault is what befalls a call.
type Fault struct {
	Before error // the target does nothing and says this
	After  error // the target does what it is asked, and says this
}

// NewReference returns an empty target.
func NewReference(limits memory.Limits) *Reference {
	return &Reference{limits: limits, sent: map[string]bool{}, fault: func(string) Fault { return Fault{} }}
}

// Break asks for a fault at each call from now on, by the name of the method. It may be called meanwhile; nil mends.
func (r *Reference) Break(fault func(call string) Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault == nil {
		fault = func(string) Fault { return Fault{} }
	}
	r.fault = fault
}

// All returns every memory of all scopes, in the order they came.
func (r *Reference) All() (out []memory.Memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.memories {
		out = append(out, r.memories[i].Memory)
	}
	return out
}

// enter begins a call: it holds the lock if there is no error.
func (r *Reference) enter(ctx context.Context, call string) (after, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	fault := r.fault
	r.mu.Unlock()
	f := fault(call) // unlocked: it may wait
	if f.Before != nil {
		return nil, f.Before
	}
	r.mu.Lock()
	return f.After, nil
}

// Name implements memory.Target.
func (r *Reference) Name() string { return "reference" }

// Limits implements memory.Target.
func (r *Reference) Limits() memory.Limits { return r.limits }

func batchKey(b *memory.Batch) string { return fmt.Sprintf("%#v %s", b.Scope, b.Key) }

// Add implements memory.Target.
func (r *Reference) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	after, err := r.enter(ctx, "Add")
	if err != nil {
		return memory.Receipt{}, err
	}
	defer r.mu.Unlock()
	if len(b.Messages) > r.limits.MaxMessages {
		return memory.Receipt{}, memory.ErrRefused
	}
	if !r.limits.Idempotent || !r.sent[batchKey(b)] {
		r.sent[batchKey(b)] = true
		for i := range b.Messages {
			r.keep(said(b, &b.Messages[i]), b.Key)
		}
	}
	if after != nil {
		return memory.Receipt{}, after
	}
	if r.limits.Async {
		return memory.Receipt{Pending: true}, nil
	}
	return r.receipt(b), nil
}

func said(b *memory.Batch, m *memory.Message) memory.Memory {
	out := memory.Memory{
		Kind: memory.Said, Text: m.Text, SaidBy: "user", Time: m.Time, Scope: b.Scope,
		Sources: []memory.Source{{Conversation: b.Conversation, Incarnation: b.Incarnation, First: m.Index, Last: m.Index, Time: m.Time}},
	}
	if b.Infer {
		out.Kind = memory.Fact
	}
	if m.Role == conversation.RoleAssistant {
		out.SaidBy = "assistant"
	}
	return out
}

func (r *Reference) keep(m memory.Memory, key string) string {
	r.next++
	m.ID = fmt.Sprintf("reference-%d", r.next)
	late := 0
	if r.limits.Async {
		late = 2
	}
	r.memories = append(r.memories, kept{m, key, late})
	return m.ID
}

func (r *Reference) receipt(b *memory.Batch) (out memory.Receipt) {
	for i := range r.memories {
		m := &r.memories[i]
		if r.limits.ReturnsIDs && m.Scope == b.Scope && m.key == b.Key && m.Kind != memory.Added {
			out.IDs = append(out.IDs, m.ID)
		}
	}
	return out
}

// Settle implements memory.Target.
func (r *Reference) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	after, err := r.enter(ctx, "Settle")
	if err != nil {
		return memory.Receipt{}, err
	}
	defer r.mu.Unlock()
	if after != nil {
		return memory.Receipt{}, after
	}
	if !r.sent[batchKey(b)] {
		return memory.Receipt{}, memory.ErrNotFound
	}
	r.age()
	return r.receipt(b), nil
}

// Put implements memory.Target.
func (r *Reference) Put(ctx context.Context, s memory.Scope, n *memory.Note) (string, error) {
	after, err := r.enter(ctx, "Put")
	if err != nil {
		return "", err
	}
	defer r.mu.Unlock()
	if utf8.RuneCountInString(n.Text) > r.limits.MaxNote {
		return "", memory.ErrRefused
	}
	id := ""
	for i := range r.memories {
		if m := &r.memories[i]; m.Scope == s && m.key == n.Key && m.Kind == memory.Added {
			id = m.ID
		}
	}
	if id == "" {
		id = r.keep(memory.Memory{
			Kind: memory.Added, Text: n.Text, Time: n.Time, Scope: s, ExpireTime: n.ExpireTime, Metadata: n.Metadata,
		}, n.Key)
	}
	if after != nil {
		return "", after
	}
	return id, nil
}

// age brings what is late nearer to being seen.
func (r *Reference) age() {
	for i := range r.memories {
		r.memories[i].late = max(r.memories[i].late-1, 0)
	}
}

// Search implements memory.Target. The score is the share of the query's words that a memory has.
func (r *Reference) Search(ctx context.Context, s memory.Scope, q *memory.Query) ([]memory.Memory, error) {
	after, err := r.enter(ctx, "Search")
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	if after != nil {
		return nil, after
	}
	r.age()
	var out []memory.Memory
	for i := range r.memories {
		m := r.memories[i].Memory
		m.Score = share(q.Text, m.Text)
		own := len(m.Sources) > 0 && m.Sources[0].Conversation == q.Except && q.Except != ""
		if m.Scope == s && r.memories[i].late == 0 && m.Score > 0 && m.Score >= q.Floor && !own && !m.Expired(q.Now) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b memory.Memory) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), q.Limit)], nil
}

func share(query, text string) float64 {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	has, found := words(text), 0
	asked := words(query)
	for _, w := range asked {
		if slices.Contains(has, w) {
			found++
		}
	}
	return float64(found) / float64(max(len(asked), 1))
}

// List implements memory.Target. A token is the id that a page ended with.
func (r *Reference) List(ctx context.Context, s memory.Scope, p *memory.Page) (memory.Listing, error) {
	after, err := r.enter(ctx, "List")
	if err != nil {
		return memory.Listing{}, err
	}
	defer r.mu.Unlock()
	if after != nil {
		return memory.Listing{}, after
	}
	r.age()
	var out memory.Listing
	started := p.Token == ""
	for i := range r.memories {
		m := r.memories[i].Memory
		switch {
		case m.Scope != s:
		case !started:
			started = m.ID == p.Token
		case r.memories[i].late > 0 || !p.Shows(&m):
		case len(out.Memories) == p.Limit:
			out.Next = out.Memories[p.Limit-1].ID
			return out, nil
		default:
			out.Memories = append(out.Memories, m)
		}
	}
	if !started {
		return memory.Listing{}, memory.ErrRefused
	}
	return out, nil
}

// Delete implements memory.Target.
func (r *Reference) Delete(ctx context.Context, s memory.Scope, ids []string) (gone []string, err error) {
	_, err = r.drop(ctx, "Delete", func(m *memory.Memory) bool {
		goes := m.Scope == s && slices.Contains(ids, m.ID)
		if goes {
			gone = append(gone, m.ID)
		}
		return goes
	})
	return gone, err
}

// Retract implements memory.Target.
func (r *Reference) Retract(ctx context.Context, s memory.Scope, q *memory.Retraction) (memory.Forgetting, error) {
	if !r.limits.ForgetsOne {
		return memory.Forgetting{Residue: []string{"what messages led to cannot be taken back one by one"}}, ctx.Err()
	}
	return r.drop(ctx, "Retract", func(m *memory.Memory) bool {
		return m.Scope == s && (!q.KeepFacts || m.Kind == memory.Said) && slices.ContainsFunc(m.Sources, func(src memory.Source) bool {
			return src.Conversation == q.Conversation && src.Incarnation == q.Incarnation && src.Last >= q.Range.First && src.First < q.Range.End
		})
	})
}

// Forget implements memory.Target.
func (r *Reference) Forget(ctx context.Context, s memory.Scope, until time.Time) (memory.Forgetting, error) {
	return r.drop(ctx, "Forget", func(m *memory.Memory) bool { return m.Scope == s && !m.Time.After(until) })
}

func (r *Reference) drop(ctx context.Context, call string, which func(*memory.Memory) bool) (memory.Forgetting, error) {
	after, err := r.enter(ctx, call)
	if err != nil {
		return memory.Forgetting{}, err
	}
	defer r.mu.Unlock()
	before := len(r.memories)
	r.memories = slices.DeleteFunc(r.memories, func(m kept) bool { return which(&m.Memory) })
	if after != nil {
		return memory.Forgetting{}, after
	}
	return memory.Forgetting{Deleted: int64(before - len(r.memories))}, nil
}
