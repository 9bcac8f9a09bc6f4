package engine

import (
	"bytes"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// askedSlot holds which summaries builds have wanted that are not made yet, and since when: each is waited for in a few turns, whoever builds
// them.
const askedSlot = view.BuildSlots + "asked"

// maxAsked bounds that list. What does not find room in it is waited for from the turn on that it was due in.
const maxAsked = 1024

// maxSummaryDeferral is for how many turns something is shown in full because its summary is not there (behaviour §5).
const maxSummaryDeferral = 3

func parseAsked(value []byte) ([]record.AskedSummary, error) {
	if value == nil {
		return nil, nil
	}
	list, err := record.DecodeAskedSummaries(value)
	if err != nil {
		return nil, conversation.Errorf(conversation.CorruptRecord, "the stored list of summaries is damaged").Because(err)
	}
	return list, nil
}

// wasAsked says whether an earlier build has asked for the summary of what is due.
func (d *deciding) wasAsked(x *expiry.Due) bool { return d.askedAt(x) >= 0 }

func (d *deciding) askedAt(x *expiry.Due) int {
	return slices.IndexFunc(d.wanted, func(a record.AskedSummary) bool { return a.Index == x.Index && a.Part == x.Part })
}

// askedOf is what the list says of what is due.
func (d *deciding) askedOf(x *expiry.Due) record.AskedSummary {
	if at := d.askedAt(x); at >= 0 {
		return d.wanted[at]
	}
	return record.AskedSummary{Index: x.Index, Part: x.Part, Turn: d.firstAsked(x)}
}

// firstAsked is the turn in which the summary of what is due was first asked for: this one, if no earlier build did.
func (d *deciding) firstAsked(x *expiry.Due) int32 {
	switch at := d.askedAt(x); {
	case at >= 0:
		return d.wanted[at].Turn
	case len(d.wanted) >= maxAsked:
		return x.Since
	default:
		return d.turn
	}
}

// late says whether what is due has waited for its summary long enough.
func (d *deciding) late(x *expiry.Due) bool {
	return d.turn-max(x.Since, d.firstAsked(x)) >= maxSummaryDeferral
}

// changeAsked adds to the build's change whose summaries it leaves to later builds.
func (d *deciding) changeAsked(c *store.Change) {
	if !d.expiring {
		return
	}
	var list []record.AskedSummary
	for i := range d.foreseen {
		if x := &d.foreseen[i]; len(list) < maxAsked {
			list = append(list, d.askedOf(x))
		}
	}
	stored := d.Loaded.Slots[askedSlot]
	if len(list) == 0 {
		if stored != nil {
			c.Slots[askedSlot] = nil
		}
		return
	}
	if value := record.EncodeAskedSummaries(list, stored); !bytes.Equal(value, stored) {
		c.Slots[askedSlot] = value
	}
}
