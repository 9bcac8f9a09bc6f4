package embedded_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	memstore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// longest is how long a fact may be.
const longest = 400

// spot is where the model has a message.
type spot struct {
	talk  string
	index int32
}

// model is what a scope is to hold: texts by where they were said, and of notes. Each message is a fact, too.
type model struct {
	*rapid.T
	w       *world
	targets []*recording
	scope   memory.Scope
	said    map[spot]string
	drawn   map[spot]string
	gone    map[spot]bool // deleted one by one: they do not come again
	notes   map[string]string
	next    map[string]int32
	sent    []*memory.Batch
	forgot  int // batches before this one are from before the last Forget
	texts   int
}

// target is any of the processes.
func (m *model) target() *recording { return m.targets[m.draw(len(m.targets))] }

func (m *model) draw(n int) int { return rapid.IntRange(0, n-1).Draw(m.T, "n") }

func (m *model) must(err error) {
	if err != nil {
		m.Fatal(err)
	}
}

func (m *model) add(*rapid.T) {
	name := fmt.Sprint("talk", m.draw(3))
	m.w.now.Add(1000)
	var texts []string
	for range 1 + m.draw(3) {
		m.texts++
		texts = append(texts, filler(fmt.Sprint("w", m.texts, "v"), 2+m.draw(900)))
	}
	b := talk(m.scope, name, m.next[name], time.UnixMilli(m.w.now.Load()).UTC(), texts...)
	for i := range b.Messages {
		b.Messages[i].Time = b.Messages[0].Time
	}
	m.next[name] += int32(len(texts))
	m.sent = append(m.sent, b)
	m.remember(b)
	_, err := m.target().Add(m.Context(), b)
	m.must(err)
}

func (m *model) remember(b *memory.Batch) {
	for _, message := range b.Messages {
		at := spot{b.Conversation, message.Index}
		if _, known := m.said[at]; known || m.gone[at] {
			continue
		}
		m.said[at] = message.Text
		if len(message.Text) <= longest {
			m.drawn[at] = message.Text
		}
	}
}

func (m *model) resend(*rapid.T) {
	if len(m.sent) == 0 {
		return
	}
	n := m.draw(len(m.sent))
	if n >= m.forgot {
		m.remember(m.sent[n])
	}
	_, err := m.target().Add(m.Context(), m.sent[n])
	m.must(err)
}

func (m *model) put(*rapid.T) {
	key := fmt.Sprint("key", m.draw(6))
	m.w.now.Add(1000)
	m.texts++
	text := fmt.Sprint("note ", m.texts)
	if _, known := m.notes[key]; !known {
		m.notes[key] = text
	}
	_, err := m.target().Put(m.Context(), m.scope, &memory.Note{Key: key, Text: text, Time: time.UnixMilli(m.w.now.Load())})
	m.must(err)
}

func (m *model) retract(*rapid.T) {
	name, first, keep := fmt.Sprint("talk", m.draw(3)), int32(m.draw(6)), m.draw(2) == 0
	within := conversation.Range{First: first, End: first + int32(1+m.draw(20))}
	goes := func(at spot, _ string) bool { return at.talk == name && within.Contains(at.index) }
	maps.DeleteFunc(m.said, goes)
	if !keep {
		maps.DeleteFunc(m.drawn, goes)
	}
	maps.DeleteFunc(m.gone, func(at spot, _ bool) bool { return at.talk == name && within.Contains(at.index) })
	_, err := m.target().Retract(m.Context(), m.scope, &memory.Retraction{Conversation: name, Incarnation: incarnationOf(name), Range: within, KeepFacts: keep})
	m.must(err)
}

func (m *model) delete(*rapid.T) {
	all := m.list(m.target())
	if len(all) == 0 {
		return
	}
	picked := all[m.draw(len(all))]
	if picked.Kind == memory.Added {
		maps.DeleteFunc(m.notes, func(_, text string) bool { return text == picked.Text })
	} else { // a message and the fact that says no more go together
		at := spot{picked.Sources[0].Conversation, picked.Sources[0].First}
		if _, there := m.said[at]; there {
			m.gone[at] = true
		}
		delete(m.said, at)
		delete(m.drawn, at)
	}
	gone, err := m.target().Delete(m.Context(), m.scope, []string{picked.ID})
	if err != nil || !slices.Contains(gone, picked.ID) {
		m.Fatalf("%v deleted, %v", gone, err)
	}
}

func (m *model) forget(*rapid.T) {
	if m.draw(3) > 0 {
		return
	}
	_, err := m.target().Forget(m.Context(), m.scope, time.Now().AddDate(10, 0, 0))
	m.must(err)
	clear(m.said)
	clear(m.drawn)
	clear(m.gone)
	clear(m.notes)
	m.forgot = len(m.sent)
}

func (m *model) list(target *recording) (out []memory.Memory) {
	page := &memory.Page{Limit: 1 + m.draw(20), Now: day(0)}
	for {
		listing, err := target.List(m.Context(), m.scope, page)
		m.must(err)
		out = append(out, listing.Memories...)
		if page.Token = listing.Next; page.Token == "" {
			return out
		}
	}
}

// check compares what a process lists, and what it finds of one thing, with what is to be there.
func (m *model) check(*rapid.T) {
	var want, got []string
	for kind, texts := range map[memory.Kind]map[spot]string{memory.Said: m.said, memory.Fact: m.drawn} {
		for at, text := range texts {
			want = append(want, fmt.Sprint(kind, at, text))
		}
	}
	for _, text := range m.notes {
		want = append(want, fmt.Sprint(memory.Added, text))
	}
	target := m.target()
	for _, one := range m.list(target) {
		if one.Kind == memory.Added {
			got = append(got, fmt.Sprint(one.Kind, one.Text))
			continue
		}
		got = append(got, fmt.Sprint(one.Kind, spot{one.Sources[0].Conversation, one.Sources[0].First}, trimmed(one)))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		m.Fatalf("%d memories are listed, %d are to be there", len(got), len(want))
	}
	for _, text := range m.said {
		word, _, _ := strings.Cut(text, " ")
		found, err := target.Search(m.Context(), m.scope, &memory.Query{Text: word, Limit: 1, Now: day(0)})
		if m.must(err); len(found) != 1 || trimmed(found[0]) != text && found[0].Text != text {
			m.Fatalf("%d memories are found of one that is there", len(found))
		}
		return
	}
}

// trimmed is the text as it was said: a fact is on one line.
func trimmed(m memory.Memory) string {
	if m.Kind == memory.Fact {
		return m.Text + " "
	}
	return m.Text
}

// Whatever is done, in any order and by any process, both show what is to be there.
func TestTarget_AnyChanges_LeaveWhatIsToBeThere(t *testing.T) {
	t.Parallel()
	proptest.Check(t, func(t *rapid.T) {
		w := newWorld(memstore.New(memstore.Options{}))
		o := w.options()
		o.Extract = eachShortMessage
		m := &model{
			T: t, w: w, scope: user("anna"), said: map[spot]string{}, drawn: map[spot]string{}, gone: map[spot]bool{}, notes: map[string]string{},
			next: map[string]int32{},
		}
		for range 2 {
			o.Cache = newShelf()
			m.targets = append(m.targets, w.with(o))
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "add": m.add, "add more": m.add, "resend": m.resend, "put": m.put, "retract": m.retract, "delete": m.delete, "forget": m.forget,
		})
	})
}

// eachShortMessage takes each message for a fact that is not cut as one.
func eachShortMessage(ctx context.Context, messages []memory.Message) ([]embedded.Extracted, error) {
	return eachMessage(ctx, slices.DeleteFunc(slices.Clone(messages), func(m memory.Message) bool { return len(m.Text) > longest }))
}
