package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// EraseSlot holds which messages have something to be erased, and when: they must be found wherever they are by then, in the
// view or not (behaviour §2).
const EraseSlot = view.BuildSlots + "erase"

// MaxErasures is how many entries the list holds: one for each message and turn in which something of it is due.
const MaxErasures = 2048

// ParseErasures reads the list of what is to be erased, and when.
func ParseErasures(value []byte) ([]record.Erasure, error) {
	if value == nil {
		return nil, nil
	}
	list, err := record.DecodeErasures(value)
	if err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the stored erasures are damaged").Because(err)
	}
	return list, nil
}
