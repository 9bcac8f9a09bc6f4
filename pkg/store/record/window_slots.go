package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Fit is the window in force for one budget. Where its start is below 0, it is to be found anew.
type Fit struct {
	Budget  int64
	Window  conversation.Window
	Unknown string
}

// EncodeFits makes the value of a slot from the windows of budgets. stored is the value that it replaces.
func EncodeFits(list []Fit, stored []byte) []byte { return encodeList(list, stored, fitFields) }

// DecodeFits reads what EncodeFits made.
func DecodeFits(value []byte) ([]Fit, error) {
	if !isJSON(value) {
		return decodeList(value, fitFields)
	}
	old, err := decodeJSON[[]fitJSON](value)
	if err != nil {
		return nil, err
	}
	list := make([]Fit, len(old))
	for i, f := range old {
		list[i] = Fit{Budget: f.Budget, Window: conversation.Window{
			Start: f.Start, Request: f.Request, Opening: f.Opening, Restored: f.Restored, Afresh: f.Afresh, Cuts: f.Cuts,
		}}
	}
	return list, nil
}

// fitJSON is a Fit in the form that slots had at first.
type fitJSON struct {
	Budget   int64              `json:"budget"`
	Start    int32              `json:"start"`
	Request  int32              `json:"anchor"`
	Opening  int32              `json:"opening"`
	Restored int64              `json:"restored"`
	Afresh   int64              `json:"afresh"`
	Cuts     []conversation.Cut `json:"cuts"`
}

func fitFields(f *fields, v *Fit) {
	w := &v.Window
	integer(f, 1, &v.Budget)
	f.sint(2, &w.Start)
	f.sint(3, &w.Request)
	f.sint(4, &w.Opening)
	integer(f, 5, &w.Restored)
	integer(f, 6, &w.Afresh)
	list(f, 7, &w.Cuts, cutFields)
	f.unknown(&v.Unknown)
}

// AskedSummary is something whose summary was first asked for in a turn.
type AskedSummary struct {
	Index   int32  `json:"i"`
	Part    int32  `json:"p"`
	Turn    int32  `json:"t"`
	Unknown string `json:"-"`
}

// EncodeAskedSummaries makes the value of a slot in place of the one that is stored, and DecodeAskedSummaries reads it.
var EncodeAskedSummaries, DecodeAskedSummaries = listSlotOf(askedSummaryFields)

func askedSummaryFields(f *fields, a *AskedSummary) {
	integer(f, 1, &a.Index)
	f.sint(2, &a.Part)
	integer(f, 3, &a.Turn)
	f.unknown(&a.Unknown)
}

// Erasure is a message of which something is to be erased in a turn.
type Erasure struct {
	Index   int32  `json:"i"`
	Turn    int32  `json:"t"`
	Unknown string `json:"-"`
}

// EncodeErasures makes the value of a slot in place of the one that is stored, and DecodeErasures reads it.
var EncodeErasures, DecodeErasures = listSlotOf(erasureFields)

func erasureFields(f *fields, e *Erasure) {
	integer(f, 1, &e.Index)
	integer(f, 2, &e.Turn)
	f.unknown(&e.Unknown)
}

// Reclaim is a pruned result that is to be erased.
type Reclaim struct {
	Index   int32  `json:"i"`
	Part    int32  `json:"p"`
	At      int64  `json:"at"` // Unix seconds
	Unknown string `json:"-"`
}

// EncodeReclaims makes the value of a slot in place of the one that is stored, and DecodeReclaims reads it.
var EncodeReclaims, DecodeReclaims = listSlotOf(reclaimFields)

func reclaimFields(f *fields, x *Reclaim) {
	integer(f, 1, &x.Index)
	integer(f, 2, &x.Part)
	integer(f, 3, &x.At)
	f.unknown(&x.Unknown)
}
