package transfer

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// maxImportedSlots bounds the calibrations of an import, of which there is one per model.
const maxImportedSlots = 256

// importedRecord is what the state of an import is checked against.
type importedRecord struct {
	messages int32
	editSeq  int64
}

// checkSlots requires of the imported state what builds rely on. It replaces the values by those to be stored.
func (r *importedRecord) checkSlots(slots map[string][]byte) error {
	if len(slots) > maxImportedSlots {
		return invalid("the state has more than %d entries", maxImportedSlots)
	}
	for name, value := range slots {
		checked, err := r.checkSlot(name, value)
		if err != nil || checked == nil {
			return invalid("the state has an entry that is unknown or damaged")
		}
		slots[name] = checked
	}
	return nil
}

// checkSlot returns a slot's value in the stored form; earlier versions exported JSON. It is nil for a slot that no
// conversation has.
func (r *importedRecord) checkSlot(name string, value []byte) ([]byte, error) {
	switch {
	case name == view.BudgetWindowsSlot:
		return checked(value, record.DecodeFits, r.fits, record.EncodeFits)
	case name == view.UsedSlot:
		return checked(value, record.DecodeUsageReport, r.reported, func(u record.UsageReport, _ []byte) []byte { return record.EncodeUsageReport(&u) })
	case strings.HasPrefix(name, view.UsageSlot("")):
		return checked(value, record.DecodeCalibration, calibrates, func(c record.Calibration, stored []byte) []byte { return record.EncodeCalibration(&c, stored) })
	case name == erasures.DueSlot:
		return checked(value, record.DecodeErasures, r.erasures, record.EncodeErasures)
	case name == drafts.RequestedSlot:
		return checked(value, record.DecodeAskedSummaries, r.asked, record.EncodeAskedSummaries)
	case name == appends.SuccessorsSlot:
		return checked(value, record.DecodeSuccessors, successors, record.EncodeSuccessors)
	case name == erasures.PrunedSlot:
		return checked(value, record.DecodeReclaims, r.reclaims, record.EncodeReclaims)
	default:
		return nil, nil
	}
}

func checked[T any](value []byte, decode func([]byte) (T, error), admits func(T) bool, encode func(v T, stored []byte) []byte) ([]byte, error) {
	v, err := decode(value)
	if err != nil || !admits(v) {
		return nil, err
	}
	return encode(v, value), nil
}

func (r *importedRecord) fits(list []record.Fit) bool {
	return len(list) <= view.MaxBudgetWindows && !slices.ContainsFunc(list, func(f record.Fit) bool {
		w := &f.Window
		return f.Budget <= 0 || !r.admits(*w) && !(w.Start == -1 && w.Request == -1 && w.Restored == 0)
	})
}

// admits reports whether a window may belong to this conversation.
func (r *importedRecord) admits(w conversation.Window) bool {
	cuts := !slices.ContainsFunc(w.Cuts, func(c conversation.Cut) bool {
		return c.Message < 0 || c.Message > r.messages || c.Summary < 0 || min(c.Head, c.From, c.Tail) < 0
	})
	before := func(index int32) bool { return -1 <= index && (index < w.Start || index == 0) }
	return 0 <= w.Start && w.Start <= r.messages && before(w.Request) && before(w.Opening) && cuts &&
		0 <= w.Restored && w.Restored <= r.editSeq && 0 <= w.Afresh && w.Afresh <= r.editSeq
}

func (r *importedRecord) erasures(list []record.Erasure) bool {
	return len(list) <= erasures.MaxListed && !slices.ContainsFunc(list, func(x record.Erasure) bool {
		return x.Index < 0 || x.Index >= r.messages || x.Turn < 0
	})
}

func (r *importedRecord) asked(list []record.AskedSummary) bool {
	return len(list) <= drafts.MaxRequested && !slices.ContainsFunc(list, func(a record.AskedSummary) bool {
		return a.Index < 0 || a.Index >= r.messages || a.Part < expiry.MessageText || a.Turn < 0
	})
}

func (r *importedRecord) reclaims(list []record.Reclaim) bool {
	return len(list) <= erasures.MaxListed && !slices.ContainsFunc(list, func(x record.Reclaim) bool {
		return x.Index < 0 || x.Index >= r.messages || x.Part < 0
	})
}

// successors reports whether a list may name conversations that continue this one. Those conversations say themselves whether
// they do.
func successors(list []record.Successor) bool {
	return len(list) <= appends.MaxSuccessors && !slices.ContainsFunc(list, func(s record.Successor) bool {
		return s.Conversation == "" || !isName(s.Conversation)
	})
}

// isName reports whether a text may be the id of a conversation, or is empty.
func isName(s string) bool {
	return len(s) <= store.MaxName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func (r *importedRecord) reported(u record.UsageReport) bool {
	return u.Messages >= 0 && u.Messages <= r.messages &&
		min(u.Manifest, u.Counted, u.Context, u.Output, u.Thought) >= 0 && max(u.Counted, u.Context, u.Output, u.Thought) <= maxReported
}

// maxReported is more tokens than any provider accepts.
const maxReported = 1 << 40

func calibrates(c record.Calibration) bool {
	for _, f := range []float64{c.Prior, c.CountedSum, c.ReportedSum} {
		if !(f >= 0 && f <= math.MaxInt32) { // false for NaN too
			return false
		}
	}
	return c.Counted >= 0 && c.Reported >= 0
}
