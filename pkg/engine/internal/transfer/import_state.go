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

// checkSlots requires of the imported state what builds rely on.
func (im *importer) checkSlots() error {
	if len(im.slots) > maxImportedSlots {
		return invalid("the state has more than %d entries", maxImportedSlots)
	}
	for name, value := range im.slots {
		checked, err := im.checkSlot(name, value)
		if err != nil || checked == nil {
			return invalid("the state has an entry that is unknown or damaged")
		}
		im.slots[name] = checked
	}
	return nil
}

// checkSlot returns a slot's value in the stored form; earlier versions exported JSON. It is nil for a slot that no
// conversation has.
func (im *importer) checkSlot(name string, value []byte) ([]byte, error) {
	switch {
	case name == view.BudgetWindowsSlot:
		return checked(value, record.DecodeFits, im.fits, record.EncodeFits)
	case name == view.UsedSlot:
		return checked(value, record.DecodeUsageReport, im.reported, func(u record.UsageReport, _ []byte) []byte { return record.EncodeUsageReport(&u) })
	case strings.HasPrefix(name, view.UsageSlot("")):
		return checked(value, record.DecodeCalibration, calibrates, func(c record.Calibration, stored []byte) []byte { return record.EncodeCalibration(&c, stored) })
	case name == erasures.DueSlot:
		return checked(value, record.DecodeErasures, im.erasures, record.EncodeErasures)
	case name == drafts.RequestedSlot:
		return checked(value, record.DecodeAskedSummaries, im.asked, record.EncodeAskedSummaries)
	case name == appends.SuccessorsSlot:
		return checked(value, record.DecodeSuccessors, successors, record.EncodeSuccessors)
	case name == erasures.PrunedSlot:
		return checked(value, record.DecodeReclaims, im.reclaims, record.EncodeReclaims)
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

func (im *importer) fits(list []record.Fit) bool {
	return len(list) <= view.MaxBudgetWindows && !slices.ContainsFunc(list, func(f record.Fit) bool {
		w := &f.Window
		return f.Budget <= 0 || !im.admits(*w) && !(w.Start == -1 && w.Request == -1 && w.Restored == 0)
	})
}

// admits reports whether a window may belong to this conversation.
func (im *importer) admits(w conversation.Window) bool {
	cuts := !slices.ContainsFunc(w.Cuts, func(c conversation.Cut) bool {
		return c.Message < 0 || c.Message > im.head.Messages || c.Summary < 0 || min(c.Head, c.From, c.Tail) < 0
	})
	before := func(index int32) bool { return -1 <= index && (index < w.Start || index == 0) }
	return 0 <= w.Start && w.Start <= im.head.Messages && before(w.Request) && before(w.Opening) && cuts &&
		0 <= w.Restored && w.Restored <= im.editSeq && 0 <= w.Afresh && w.Afresh <= im.editSeq
}

func (im *importer) erasures(list []record.Erasure) bool {
	return len(list) <= erasures.MaxListed && !slices.ContainsFunc(list, func(x record.Erasure) bool {
		return x.Index < 0 || x.Index >= im.head.Messages || x.Turn < 0
	})
}

func (im *importer) asked(list []record.AskedSummary) bool {
	return len(list) <= drafts.MaxRequested && !slices.ContainsFunc(list, func(a record.AskedSummary) bool {
		return a.Index < 0 || a.Index >= im.head.Messages || a.Part < expiry.MessageText || a.Turn < 0
	})
}

func (im *importer) reclaims(list []record.Reclaim) bool {
	return len(list) <= erasures.MaxListed && !slices.ContainsFunc(list, func(r record.Reclaim) bool {
		return r.Index < 0 || r.Index >= im.head.Messages || r.Part < 0
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

func (im *importer) reported(r record.UsageReport) bool {
	return r.Messages >= 0 && r.Messages <= im.head.Messages &&
		min(r.Manifest, r.Counted, r.Context, r.Output, r.Thought) >= 0 && max(r.Counted, r.Context, r.Output, r.Thought) <= maxReported
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
