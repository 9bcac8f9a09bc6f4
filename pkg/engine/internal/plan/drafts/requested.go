package drafts

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// RequestedSlot holds which summaries of single texts builds have wanted that are not made yet, and since when: each is waited for in a few
// turns, whoever builds them.
const RequestedSlot = view.BuildSlots + "asked"

// MaxRequested bounds that list. What does not find room in it is waited for from the turn on that it was due in.
const MaxRequested = 1024

// Requested are the summaries of single texts that earlier builds wanted, or were to want.
type Requested []record.AskedSummary

// ParseRequested reads what the slot holds.
func ParseRequested(value []byte) (Requested, error) {
	return view.ReadSlot(value, record.DecodeAskedSummaries, "the stored list of summaries is damaged")
}

func (r Requested) index(x *expiry.Due) int {
	return slices.IndexFunc(r, func(a record.AskedSummary) bool { return a.Index == x.Index && a.Part == x.Part })
}

// Has says whether an earlier build has asked for the summary of what is due.
func (r Requested) Has(x *expiry.Due) bool { return r.index(x) >= 0 }

// Entry is what the list says of what is due, or is to say from a turn on, if no earlier build has asked for its summary.
func (r Requested) Entry(x *expiry.Due, turn int32) record.AskedSummary {
	if at := r.index(x); at >= 0 {
		return r[at]
	}
	if len(r) >= MaxRequested {
		turn = x.Since
	}
	return record.AskedSummary{Index: x.Index, Part: x.Part, Turn: turn}
}
