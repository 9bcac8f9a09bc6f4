package store

import (
	"sort"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// SetSlot adds a slot to the answer.
func (s *Snapshot) SetSlot(name string, data []byte) {
	if s.Slots == nil {
		s.Slots = make(map[string][]byte)
	}
	s.Slots[name] = data
}

// Answer adds whole commits to a snapshot, oldest first, up to the limit. Its arguments are the messages and the edits of commits after
// the version, each in order, at least up to the limit and to the end of the commit there.
func (q *Since) Answer(snap *Snapshot, messages []conversation.Message, edits []conversation.Edit) {
	for taken := 0; len(messages)+len(edits) > 0; {
		commit := oldest(messages, edits)
		m := sort.Search(len(messages), func(i int) bool { return messages[i].Commit > commit })
		e := sort.Search(len(edits), func(i int) bool { return edits[i].Commit > commit })
		if taken > 0 && taken+m+e > q.Limit {
			return
		}
		snap.Messages = append(snap.Messages, messages[:m]...)
		snap.Edits = append(snap.Edits, edits[:e]...)
		messages, edits, taken = messages[m:], edits[e:], taken+m+e
	}
}

func oldest(messages []conversation.Message, edits []conversation.Edit) uint64 {
	switch {
	case len(messages) == 0:
		return edits[0].Commit
	case len(edits) == 0:
		return messages[0].Commit
	default:
		return min(messages[0].Commit, edits[0].Commit)
	}
}
