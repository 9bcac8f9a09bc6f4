package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// row is a message in the form of its table.
type row struct {
	index, tokens       int32
	role                int16
	commit              int64
	made                time.Time
	id                  string
	callID, calls, text *string
	payload             []byte
}

// lastOf returns the records without duplicates of a key; the last one wins. A statement may not write a row twice.
func lastOf[K comparable, T any](all []T, key func(*T) K) []T {
	if len(all) < 2 {
		return all
	}
	last := make(map[K]int, len(all))
	for i := range all {
		last[key(&all[i])] = i
	}
	kept := make([]T, 0, len(last))
	for i := range all {
		if last[key(&all[i])] == i {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// rowsOf returns the rows of the messages in all lists.
func (s *Store) rowsOf(lists ...[]conversation.Message) []row {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	rows := make([]row, 0, n)
	for _, list := range lists {
		for i := range list {
			rows = append(rows, s.rowOf(&list[i]))
		}
	}
	return lastOf(rows, func(r *row) int32 { return r.index })
}

func (s *Store) rowOf(m *conversation.Message) row {
	r := row{
		index: m.Index, tokens: m.Tokens, role: int16(m.Role), commit: int64(m.Commit), made: m.CreateTime, id: readable(m.ID),
		payload: s.codec.EncodeMessage(m),
	}
	r.callID, r.calls = toolColumns(m, s.options.TextColumn)
	if s.options.TextColumn {
		r.text = words(m)
	}
	return r
}

// putMessages writes messages over existing rows. A lone message is inserted unless over is set.
func (w *statement) putMessages(rows []row, over bool) {
	switch n := len(rows); {
	case n == 0:
	case n == 1 && !over:
		r := &rows[0]
		w.last, w.lastArgs = messageSQL, []any{r.index, r.id, r.role, r.tokens, r.commit, r.made, r.callID, r.calls, r.text, r.payload}
	default:
		w.last, w.lastArgs = messagesSQL, []any{
			column(rows, func(r *row) int32 { return r.index }), column(rows, func(r *row) string { return r.id }),
			column(rows, func(r *row) int16 { return r.role }), column(rows, func(r *row) int32 { return r.tokens }),
			column(rows, func(r *row) int64 { return r.commit }), column(rows, func(r *row) time.Time { return r.made }),
			column(rows, func(r *row) *string { return r.callID }), column(rows, func(r *row) *string { return r.calls }),
			column(rows, func(r *row) *string { return r.text }), column(rows, func(r *row) []byte { return r.payload }),
		}
	}
}

func column[T any](rows []row, of func(*row) T) []T {
	out := make([]T, len(rows))
	for i := range rows {
		out[i] = of(&rows[i])
	}
	return out
}

// readable returns a text that a Postgres column can hold. The payload keeps the exact bytes.
func readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// toolColumns returns the id of the call that a message answers, and the calls that it makes. Their arguments are words, so
// they are only included with the text.
func toolColumns(m *conversation.Message, arguments bool) (callID, calls *string) {
	type call struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments,omitempty"`
	}
	var made []call
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Result != nil && callID == nil {
			id := readable(p.Result.CallID)
			callID = &id
		}
		if p.Call != nil {
			c := call{ID: readable(p.Call.CallID), Name: readable(p.Call.Name)}
			if arguments {
				c.Arguments = readable(p.Call.Arguments.Inline)
			}
			made = append(made, c)
		}
	}
	if made == nil {
		return callID, nil
	}
	data, err := json.Marshal(made)
	if err != nil {
		return callID, nil // strings can always be encoded
	}
	text := string(data)
	return callID, &text
}

// words returns the texts of a message; nil if it has none. Contents that are stored separately are not included.
func words(m *conversation.Message) *string {
	var texts []string
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == conversation.PartText && p.Text.Inline != "":
			texts = append(texts, readable(p.Text.Inline))
		case p.Result != nil && p.Result.Words() != "":
			texts = append(texts, readable(p.Result.Words()))
		}
	}
	if texts == nil {
		return nil
	}
	text := strings.Join(texts, "\n")
	return &text
}

func (s *Store) putEdits(w *statement, lists ...[]conversation.Edit) {
	edits := lastOf(slices.Concat(lists...), func(e *conversation.Edit) int64 { return e.Seq })
	n := len(edits)
	seq, commit, kind, wide := make([]int64, n), make([]int64, n), make([]int16, n), make([]bool, n)
	first, last, covered, payload := make([]int32, n), make([]int32, n), make([]*string, n), make([][]byte, n)
	for i := range edits {
		e := &edits[i]
		seq[i], commit[i], kind[i], wide[i] = e.Seq, int64(e.Commit), int16(e.Kind), store.AboutRange(e.Kind) || e.Range.Len() > 1
		first[i], last[i], covered[i], payload[i] = e.Range.First, e.Range.End, covers(e), s.codec.EncodeEdit(e)
	}
	if n > 0 {
		w.add(editsSQL, seq, kind, first, last, wide, covered, commit, payload)
	}
}

// covers returns the messages that a summary stands for, or that an edit brings back, in Postgres' syntax for sets of ranges.
func covers(e *conversation.Edit) *string {
	var ranges []conversation.Range
	switch {
	case e.Kind == conversation.EditSummarize && e.Summary != nil:
		next := e.Range.First
		for _, except := range slices.SortedFunc(slices.Values(e.Summary.Except), func(a, b conversation.Range) int { return int(a.First - b.First) }) {
			ranges = append(ranges, conversation.Range{First: next, End: min(except.First, e.Range.End)})
			next = max(next, except.End)
		}
		ranges = append(ranges, conversation.Range{First: next, End: e.Range.End})
	case e.Kind == conversation.EditRestore && len(e.Brought) > 0:
		for _, index := range e.Brought {
			ranges = append(ranges, conversation.Range{First: index, End: index + 1})
		}
	case e.Kind == conversation.EditRestore:
		ranges = []conversation.Range{e.Range}
	default:
		return nil
	}
	var b strings.Builder
	for _, r := range ranges {
		if r.Len() > 0 {
			fmt.Fprintf(&b, ",[%d,%d)", r.First, r.End)
		}
	}
	text := "{" + strings.TrimPrefix(b.String(), ",") + "}"
	return &text
}

func (s *Store) putManifests(w *statement, manifests []conversation.Manifest) (seqs []int64) {
	manifests = lastOf(manifests, func(m *conversation.Manifest) int64 { return m.Seq })
	seqs = make([]int64, 0, len(manifests))
	payloads := make([][]byte, 0, len(manifests))
	for i := range manifests {
		seqs, payloads = append(seqs, manifests[i].Seq), append(payloads, s.codec.EncodeManifest(&manifests[i]))
	}
	if len(seqs) > 0 {
		w.add(manifestsSQL, seqs, payloads)
	}
	return seqs
}

func (s *Store) putOutcomes(w *statement, outcomes []store.Outcome) {
	outcomes = lastOf(outcomes, func(o *store.Outcome) store.RequestKey { return o.Key })
	n := len(outcomes)
	rpcs, ids, made, payloads := make([][]byte, n), make([][]byte, n), make([]int64, n), make([][]byte, n)
	for i := range outcomes {
		o := &outcomes[i]
		rpcs[i], ids[i], made[i], payloads[i] = []byte(o.Key.RPC), []byte(o.Key.ID), nanos(o.Time), s.codec.EncodeOutcome(o)
	}
	if len(made) > 0 {
		w.add(outcomesSQL, rpcs, ids, made, payloads)
	}
}

func (s *Store) putSlots(w *statement, slots map[string][]byte) {
	var names, payloads, dropped [][]byte
	for name, value := range slots {
		if value == nil {
			dropped = append(dropped, []byte(name))
			continue
		}
		names, payloads = append(names, []byte(name)), append(payloads, s.codec.EncodeSlot(value))
	}
	if len(names) > 0 {
		w.add(slotsSQL, names, payloads)
	}
	if len(dropped) > 0 {
		w.add(dropSlotsSQL, dropped)
	}
}
