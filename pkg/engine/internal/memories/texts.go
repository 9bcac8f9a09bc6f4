package memories

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Record tells what was said, for a memory that keeps no texts of its own. The store shows it everything: whose memories may be seen is
// decided by their scope.
type Record struct {
	Store store.Store
	Txn   *txn.Manager
}

// Texts are the words of messages on record. What is hidden, erased or gone is left out.
func (r Record) Texts(ctx context.Context, namespace, name string, incarnation conversation.ID, indices []int32) ([]memory.Message, error) {
	key := store.Key{Namespace: namespace, Conversation: name}
	snap, err := r.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Info: true})
	if errors.Is(err, store.ErrNotFound) || err == nil && (r.Txn.Live(&snap.Head) != nil || snap.Info == nil) {
		return nil, nil
	}
	if err != nil {
		return nil, txn.Failure(err)
	}
	w := view.New(key, snap)
	if err := w.Load(ctx, r.Store, rangesOf(indices, snap.Head.Messages)...); err != nil {
		if conversation.KindOf(err) == conversation.ConversationNotFound {
			return nil, nil // deleted meanwhile
		}
		return nil, err
	}
	var out []memory.Message
	for _, i := range indices {
		m, ok := w.Message(i)
		if !ok || w.View.Hidden(conversation.Range{First: i, End: i + 1}) {
			continue
		}
		text, err := r.said(ctx, w, m)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out = append(out, memory.Message{Index: i, Role: m.Role, Name: m.Name, Text: text, Time: m.CreateTime})
		}
	}
	return out, nil
}

// rangesOf are messages that are on record, as ranges.
func rangesOf(indices []int32, end int32) (out []conversation.Range) {
	for _, i := range indices {
		if i >= 0 && i < end {
			out = append(out, conversation.Range{First: i, End: i + 1})
		}
	}
	return conversation.MergeRanges(out)
}

// maxSaid bounds the bytes of a message's text: no memory takes more of one.
const maxSaid = 400_000

// said is what a user or the assistant said in a message.
func (r Record) said(ctx context.Context, w *view.Loaded, m *conversation.Message) (string, error) {
	var texts []string
	left := int64(maxSaid)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != conversation.PartText || p.Plugin != "" || p.Text.Erased != nil || left <= 0 {
			continue
		}
		text := p.Text.Inline
		if p.Text.Ref != nil {
			whole, err := r.beginning(ctx, w, p.Text.Ref, left)
			if err != nil {
				return "", err
			}
			text = whole
		}
		texts, left = append(texts, text), left-int64(len(text))
	}
	return strings.Join(texts, "\n"), nil
}

// beginning reads the first bytes of a stored text, up to the end of a character.
func (r Record) beginning(ctx context.Context, w *view.Loaded, ref *conversation.ContentRef, most int64) (string, error) {
	length := min(ref.Bytes, most)
	snap, err := r.Store.Read(ctx, w.Key, store.Query{Incarnation: w.Head.Incarnation, Contents: []store.ContentRange{{ID: ref.ID, Length: length}}})
	if err != nil {
		return "", txn.Failure(err)
	}
	text := snap.Contents[0]
	for len(text) > 0 && int64(len(text)) < ref.Bytes {
		if c, size := utf8.DecodeLastRune(text); c != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return string(text), nil
}
