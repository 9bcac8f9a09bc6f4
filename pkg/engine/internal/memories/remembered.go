package memories

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// run is a list of messages of one session that are sent to the memory together.
type run struct {
	span     conversation.Range // the messages looked at; once the run is sent, all of them count as handled
	messages []conversation.Message
	tokens   int64
	session  int32
	start    int32     // the session's first message
	last     time.Time // time of the last message of the span
	over     bool      // the session has ended
}

// queue finds what of a conversation waits to be sent, and when that is due. It changes nothing.
type queue struct {
	*subject
	slot   *record.MemorySync
	marked time.Time // up to when the conversation's actor is forgotten
	since  time.Time // from when the store knows the target

	store  store.Store // shows everything
	clock  func() time.Time
	limits memory.Limits
}

// collectPage is how many messages are read at a time.
const collectPage = 128

// collect finds the messages of a range that are to be remembered, at most the given number and not beyond the end of a session.
func (q *queue) collect(ctx context.Context, r conversation.Range, most int) (*run, error) {
	out := &run{span: conversation.Range{First: r.First, End: r.First}, session: max(q.slot.Session, 1), start: q.slot.SessionStart, last: q.slot.Passed}
	before, full := out.last, false
	for at := r.First; at < r.End; at += collectPage {
		page := conversation.Range{First: at, End: min(at+collectPage, r.End)}
		w := view.New(q.key, &store.Snapshot{Head: q.head, Info: q.info})
		if err := w.Load(ctx, q.store, page); err != nil {
			return nil, err
		}
		for i := page.First; i < page.End; i++ {
			m, ok := w.Message(i)
			if !ok {
				return nil, conversation.Errorf(conversation.CorruptRecord, "a message is not on record")
			}
			begins := q.beginsSession(m, before, out.start)
			before = m.CreateTime
			if begins && len(out.messages) > 0 {
				out.over = true
				return out, nil
			}
			if full {
				continue
			}
			if begins {
				out.session, out.start = out.session+1, i
			}
			if !w.View.Hidden(conversation.Range{First: i, End: i + 1}) && q.remembers(m) {
				if len(out.messages) < most {
					out.messages, out.tokens = append(out.messages, *m), out.tokens+int64(m.Tokens)
				} else if full = true; q.policy.Sync != conversation.SyncEndOfSession { // whether the session goes on matters here
					return out, nil
				} else {
					continue
				}
			}
			out.span.End, out.last = i+1, m.CreateTime
		}
	}
	out.over = slices.ContainsFunc(q.slot.Ends, func(end int32) bool { return end >= out.span.End && end > out.start })
	return out, nil
}

// beginsSession reports whether a message begins a new session. before is the time of the message before it, and start is the first
// message of the session so far. A message that is sent again belongs to the current session.
func (q *queue) beginsSession(m *conversation.Message, before time.Time, start int32) bool {
	if m.Index < q.slot.Next || m.Index <= start {
		return false
	}
	idle := conversation.ValueOr(q.policy.SessionIdle, conversation.DefaultSessionIdle)
	return slices.Contains(q.slot.Ends, m.Index) || !before.IsZero() && m.CreateTime.Sub(before) >= idle
}

// remembers reports whether anything of a message is to be remembered.
func (q *queue) remembers(m *conversation.Message) bool {
	return q.policy.SyncsRole(m.Role) && !m.Aborted() && !slices.Contains(m.Tags, conversation.TagNoMemory) && q.remembersFrom(m.CreateTime) &&
		slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return isSaid(m, &p) })
}

// isSaid reports whether a part is text that a user or the assistant said.
func isSaid(m *conversation.Message, p *conversation.Part) bool {
	own := m.Role == conversation.RoleAssistant || m.OwnWords()
	return own && p.Kind == conversation.PartText && p.Plugin == "" && p.Text.Erased == nil && p.Text.Bytes() > 0
}

// closedEnd is the index behind the last unit that can no longer grow.
func closedEnd(h *store.Head) int32 {
	if h.Messages > 0 && h.UnitStart < h.Messages && (h.CallsEnd == h.Messages || placement.TakesResults(h, h.Messages)) {
		return h.UnitStart
	}
	return h.Messages
}

// batch makes the target's batch from a run. It cuts texts that are longer than the target takes.
func (q *queue) batch(ctx context.Context, r *run, scope memory.Scope) (*memory.Batch, error) {
	b := &memory.Batch{
		Scope: scope, Conversation: q.key.Conversation, Incarnation: q.head.Incarnation, Session: sessionName(q.head.Incarnation, r.session),
		Infer: conversation.ValueOr(q.policy.Infer, true), Extract: q.policy.Extract,
	}
	for i := range r.messages {
		m := &r.messages[i]
		text, err := said(ctx, q.store, q.key, q.head.Incarnation, m, cmp.Or(q.limits.MaxChars, maxChars))
		if err != nil {
			return nil, err
		}
		b.Messages = append(b.Messages, memory.Message{Index: m.Index, Role: m.Role, Name: m.Name, Text: text, Time: m.CreateTime})
	}
	return b, nil
}

// said returns what was said in a message, cut to the given number of code points.
func said(ctx context.Context, kept store.Store, key store.Key, incarnation conversation.ID, m *conversation.Message, most int) (string, error) {
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		if !isSaid(m, p) || most <= 0 {
			continue
		}
		text := p.Text.Inline
		if ref := p.Text.Ref; ref != nil {
			var err error
			if text, err = beginning(ctx, kept, key, incarnation, ref, int64(most)*utf8.UTFMax); err != nil {
				return "", err
			}
		}
		text = firstChars(text, most)
		most -= utf8.RuneCountInString(text) + 1
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// maxChars is how many code points of a message are sent to a target that sets no limit.
const maxChars = 100_000

// beginning reads the first bytes of a stored content.
func beginning(ctx context.Context, kept store.Store, key store.Key, incarnation conversation.ID, ref *conversation.ContentRef, most int64) (string, error) {
	length := min(ref.Bytes, most)
	snap, err := kept.Read(ctx, key, store.Query{Incarnation: incarnation, Contents: []store.ContentRange{{ID: ref.ID, Length: length}}})
	if err != nil {
		return "", txn.Failure(err)
	}
	if int64(len(snap.Contents[0])) != length {
		return "", conversation.Errorf(conversation.CorruptRecord, "a stored content is not whole")
	}
	return string(snap.Contents[0]), nil
}

// firstChars returns at most the given number of code points of a text, without an incomplete one.
func firstChars(s string, most int) string {
	n := 0
	for i, c := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if n == most || c == utf8.RuneError && size <= 1 && i > len(s)-utf8.UTFMax {
			return s[:i]
		}
		n++
	}
	return s
}

// digest is a hash of what a batch says. Every process computes the same one for the same batch.
func digest(b *memory.Batch) [32]byte {
	h := sha256.New()
	hashText(h, b.Scope.ID)
	hashNumber(h, int64(b.Scope.Kind))
	for i := range b.Messages {
		m := &b.Messages[i]
		hashNumber(h, int64(m.Index))
		hashNumber(h, int64(m.Role))
		hashNumber(h, m.Time.UnixNano())
		hashText(h, m.Name)
		hashText(h, m.Text)
	}
	return [32]byte(h.Sum(nil))
}

func hashNumber(h hash.Hash, n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func hashText(h hash.Hash, s string) {
	hashNumber(h, int64(len(s)))
	h.Write([]byte(s))
}
