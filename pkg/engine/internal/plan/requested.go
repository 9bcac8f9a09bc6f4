package plan

import (
	"bytes"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// RequestedSlot holds which summaries builds have wanted that are not made yet, and since when: each is waited for in a few turns, whoever builds
// them.
const RequestedSlot = view.BuildSlots + "asked"

// MaxRequested bounds that list. What does not find room in it is waited for from the turn on that it was due in.
const MaxRequested = 1024

// maxSummaryDeferral is for how many turns something is shown in full because its summary is not there (behaviour §5).
const maxSummaryDeferral = 3

func parseRequested(value []byte) ([]record.AskedSummary, error) {
	return view.ReadSlot(value, record.DecodeAskedSummaries, "the stored list of summaries is damaged")
}

// wasRequested says whether an earlier build has asked for the summary of what is due.
func (d lifetimes) wasRequested(x *expiry.Due) bool { return d.requestedAt(x) >= 0 }

func (d lifetimes) requestedAt(x *expiry.Due) int {
	return slices.IndexFunc(d.requestedSummaries, func(a record.AskedSummary) bool { return a.Index == x.Index && a.Part == x.Part })
}

// requestedSummary is what the list says of what is due.
func (d lifetimes) requestedSummary(x *expiry.Due) record.AskedSummary {
	if at := d.requestedAt(x); at >= 0 {
		return d.requestedSummaries[at]
	}
	return record.AskedSummary{Index: x.Index, Part: x.Part, Turn: d.firstRequested(x)}
}

// firstRequested is the turn in which the summary of what is due was first asked for: this one, if no earlier build did.
func (d lifetimes) firstRequested(x *expiry.Due) int32 {
	switch at := d.requestedAt(x); {
	case at >= 0:
		return d.requestedSummaries[at].Turn
	case len(d.requestedSummaries) >= MaxRequested:
		return x.Since
	default:
		return d.Turn
	}
}

// waitedLongEnough says whether what is due has waited for its summary long enough.
func (d lifetimes) waitedLongEnough(x *expiry.Due) bool {
	return d.Turn-max(x.Since, d.firstRequested(x)) >= maxSummaryDeferral
}

// writeRequested adds to the build's change whose summaries it leaves to later builds.
func (d lifetimes) writeRequested(c *store.Change) {
	if !d.expiryRan {
		return
	}
	var list []record.AskedSummary
	for i := range d.upcoming {
		if x := &d.upcoming[i]; len(list) < MaxRequested {
			list = append(list, d.requestedSummary(x))
		}
	}
	stored := d.Loaded.Slots[RequestedSlot]
	if len(list) == 0 {
		if stored != nil {
			c.Slots[RequestedSlot] = nil
		}
		return
	}
	if value := record.EncodeAskedSummaries(list, stored); !bytes.Equal(value, stored) {
		c.Slots[RequestedSlot] = value
	}
}
