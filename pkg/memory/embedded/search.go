package embedded

import (
	"context"
	"iter"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

// Search implements memory.Target. Messages, facts and notes are ranked together. A memory's score is the share of the query that it covers
// with the messages around it (search.LineHit), and at least that of the memories that are ranked behind it.
func (t *Target) Search(ctx context.Context, s memory.Scope, q *memory.Query) ([]memory.Memory, error) {
	if err := checkScope(s); err != nil {
		return nil, err
	}
	x, err := t.load(ctx, s)
	if err != nil {
		return nil, err
	}
	query := search.NewQuery(q.Text)
	if query.Empty() || q.Limit < 1 {
		return nil, nil
	}
	a := &answer{target: t, scope: s, query: q, sorted: x.sorted(), seen: map[string]bool{}}
	if err := a.fill(ctx, search.RankLines(query, a.threads, a.keeps, q.Floor)); err != nil {
		return nil, contractError(ctx, err)
	}
	for i := len(a.found) - 2; i >= 0; i-- {
		a.found[i].Score = max(a.found[i].Score, a.found[i+1].Score)
	}
	return a.found, nil
}

// answer is one search.
type answer struct {
	*sorted
	target *Target
	scope  memory.Scope
	query  *memory.Query
	seen   map[string]bool // texts
	found  []memory.Memory
}

// keeps says whether a line may be an answer.
func (a *answer) keeps(line int32) bool {
	e := a.lines[line]
	switch except := a.query.Except; {
	case e.kind == saidEntry:
		return except == "" || e.talk.name != except
	case e.expired(memory.Millis(a.query.Now)):
		return false
	case e.kind == factEntry && except != "":
		return slices.ContainsFunc(e.more.sources, func(s source) bool { return s.talk.name != except })
	default:
		return true
	}
}

func (e *entry) expired(now int64) bool {
	return e.more != nil && e.more.expire != 0 && e.more.expire <= now
}

// spare is how many more hits are read than are needed: some say what others said.
const spare = 4

// fill takes hits until there are enough, or no more.
func (a *answer) fill(ctx context.Context, hits iter.Seq[search.LineHit]) error {
	next, stop := iter.Pull(hits)
	defer stop()
	for len(a.found) < a.query.Limit {
		var some []search.LineHit
		for len(some) < a.query.Limit-len(a.found)+spare {
			hit, ok := next()
			if !ok {
				break
			}
			some = append(some, hit)
		}
		if len(some) == 0 {
			return nil
		}
		entries := make([]*entry, len(some))
		for i, hit := range some {
			entries[i] = a.lines[hit.Line]
		}
		memories, err := a.target.memories(ctx, a.scope, entries)
		if err != nil {
			return err
		}
		for i, m := range memories {
			m.Score = some[i].Share
			a.take(entries[i], m)
		}
	}
	return nil
}

// take adds a memory to the answer, unless it is not there any more or says what is in the answer already.
func (a *answer) take(e *entry, m memory.Memory) {
	if len(a.found) == a.query.Limit || m.ID == "" || a.outdated(e, m.Text) {
		return
	}
	words := facts.OneLine(m.Text)
	if a.seen[words] || slices.ContainsFunc(a.found, func(other memory.Memory) bool { return repeats(&other, &m) }) {
		return
	}
	a.seen[words] = true
	a.found = append(a.found, m)
}

// outdated says whether a message says nothing but what a newer fact contradicts.
func (a *answer) outdated(e *entry, text string) bool {
	if e.kind != saidEntry {
		return false
	}
	return slices.ContainsFunc(a.facts, func(f *entry) bool {
		if f.more.superseded == 0 {
			return false
		}
		cites := func(s source) bool {
			return s.talk.talkKey == e.talk.talkKey && s.first == e.index && s.last == e.index
		}
		return slices.ContainsFunc(f.more.sources, cites) && saysOnly(text, f.more.text)
	})
}

// saysOnly says whether a text says hardly more than a fact.
func saysOnly(text, fact string) bool {
	const more = 4 // of which part of the fact the text may be longer
	return len(facts.OneLine(text)) <= len(fact)+len(fact)/more
}

// repeats says whether one of two memories is a fact in words of the other, which it cites.
func repeats(a, b *memory.Memory) bool {
	if a.Kind == memory.Said {
		a, b = b, a
	}
	if a.Kind != memory.Fact || b.Kind != memory.Said || len(b.Sources) == 0 {
		return false
	}
	said := b.Sources[0]
	cites := func(s memory.Source) bool {
		return s.Conversation == said.Conversation && s.Incarnation == said.Incarnation && s.First <= said.First && said.Last <= s.Last
	}
	return slices.ContainsFunc(a.Sources, cites) && strings.Contains(facts.OneLine(b.Text), a.Text)
}

// memories are what entries stand for, each at its place. A message that may not be shown any more has no ID.
func (t *Target) memories(ctx context.Context, s memory.Scope, entries []*entry) ([]memory.Memory, error) {
	texts, err := t.read(ctx, s.Namespace, entries)
	if err != nil {
		return nil, err
	}
	out, tag := make([]memory.Memory, len(entries)), tagOf(s)
	for i, e := range entries {
		if e.kind != saidEntry {
			out[i] = e.memory(s, tag)
		} else if m, ok := texts[e.talk.talkKey][e.index]; ok {
			out[i] = e.said(s, tag, &m)
		}
	}
	return out, nil
}

// readers is how many conversations are read at a time: a store beyond a network takes its time for each.
const readers = 4

// read reads the messages among entries, of each conversation at once.
func (t *Target) read(ctx context.Context, namespace string, entries []*entry) (map[talkKey]map[int32]memory.Message, error) {
	wanted := map[talkKey][]int32{}
	for _, e := range entries {
		if e.kind == saidEntry {
			wanted[e.talk.talkKey] = append(wanted[e.talk.talkKey], e.index)
		}
	}
	texts := make(map[talkKey]map[int32]memory.Message, len(wanted))
	for talk := range wanted {
		texts[talk] = map[int32]memory.Message{}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for talk, indices := range wanted {
		byIndex := texts[talk]
		group.Go(func() error {
			slices.Sort(indices)
			messages, err := t.textsOf(ctx, namespace, talk, indices)
			for _, m := range messages {
				byIndex[m.Index] = m
			}
			return err
		})
	}
	return texts, group.Wait()
}

// textsOf reads messages of a conversation. It recovers: nobody above it does.
func (t *Target) textsOf(ctx context.Context, namespace string, talk talkKey, indices []int32) (_ []memory.Message, err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return t.Texts(ctx, namespace, talk.name, talk.incarnation, indices)
}

// said is a message as a memory.
func (e *entry) said(s memory.Scope, tag string, m *memory.Message) memory.Memory {
	at := memory.TimeOf(e.time)
	return memory.Memory{
		ID: e.id(tag), Kind: memory.Said, Text: m.Text, SaidBy: m.Speaker(), Time: at, Scope: s,
		Sources: []memory.Source{{Conversation: e.talk.name, Incarnation: e.talk.incarnation, First: e.index, Last: e.index, Time: at}},
	}
}

// memory is a fact or a note as a memory.
func (e *entry) memory(s memory.Scope, tag string) memory.Memory {
	m := memory.Memory{
		ID: e.id(tag), Kind: memory.Added, Text: e.more.text, SaidBy: e.more.saidBy, Time: memory.TimeOf(e.time), Scope: s, ExpireTime: memory.TimeOf(e.more.expire),
		Metadata: e.more.metadata,
	}
	if e.kind == factEntry {
		m.Kind = memory.Fact
	}
	if e.more.superseded != 0 {
		m.SupersededBy = place{kind: factEntry, number: e.more.superseded}.id(tag)
	}
	for _, s := range e.more.sources {
		m.Sources = append(m.Sources, memory.Source{
			Conversation: s.talk.name, Incarnation: s.talk.incarnation, First: s.first, Last: s.last, Time: memory.TimeOf(s.time),
		})
	}
	return m
}
