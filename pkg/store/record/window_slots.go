package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Fit is the window in force for one budget. Where its start is below 0, it is to be found anew.
type Fit struct {
	Budget  int64
	Window  conversation.Window
	Unknown string
}

// EncodeFits makes the value of a slot from the windows of budgets. stored is the value that it replaces.
func EncodeFits(list []Fit, stored []byte) []byte { return encodeList(list, stored, writeFit) }

// DecodeFits reads what EncodeFits made.
func DecodeFits(value []byte) ([]Fit, error) {
	if !isJSON(value) {
		return decodeList(value, readFit)
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

func writeFit(b []byte, f *Fit) []byte {
	w := &f.Window
	b = appendInt(b, 1, f.Budget)
	b = appendSint(b, 2, w.Start)
	b = appendSint(b, 3, w.Request)
	b = appendSint(b, 4, w.Opening)
	b = appendInt(b, 5, w.Restored)
	b = appendInt(b, 6, w.Afresh)
	b = appendAll(b, 7, w.Cuts, writeCut)
	return append(b, f.Unknown...)
}

func readFit(r *reader, f *Fit) {
	w := &f.Window
	for r.next() {
		switch r.field {
		case 1:
			f.Budget = r.int64()
		case 2:
			w.Start = r.sint()
		case 3:
			w.Request = r.sint()
		case 4:
			w.Opening = r.sint()
		case 5:
			w.Restored = r.int64()
		case 6:
			w.Afresh = r.int64()
		case 7:
			w.Cuts = element(r, w.Cuts, readCut)
		default:
			f.Unknown += r.raw
		}
	}
}

// AskedSummary is something whose summary was first asked for in a turn.
type AskedSummary struct {
	Index   int32  `json:"i"`
	Part    int32  `json:"p"`
	Turn    int32  `json:"t"`
	Unknown string `json:"-"`
}

// EncodeAskedSummaries makes the value of a slot. stored is the value that it replaces.
func EncodeAskedSummaries(list []AskedSummary, stored []byte) []byte {
	return encodeList(list, stored, writeAskedSummary)
}

// DecodeAskedSummaries reads what EncodeAskedSummaries made.
func DecodeAskedSummaries(value []byte) ([]AskedSummary, error) {
	return decodeList(value, readAskedSummary)
}

func writeAskedSummary(b []byte, a *AskedSummary) []byte {
	b = appendInt(b, 1, a.Index)
	b = appendSint(b, 2, a.Part)
	b = appendInt(b, 3, a.Turn)
	return append(b, a.Unknown...)
}

func readAskedSummary(r *reader, a *AskedSummary) {
	for r.next() {
		switch r.field {
		case 1:
			a.Index = r.int32()
		case 2:
			a.Part = r.sint()
		case 3:
			a.Turn = r.int32()
		default:
			a.Unknown += r.raw
		}
	}
}

// Erasure is a message of which something is to be erased in a turn.
type Erasure struct {
	Index   int32  `json:"i"`
	Turn    int32  `json:"t"`
	Unknown string `json:"-"`
}

// EncodeErasures makes the value of a slot. stored is the value that it replaces.
func EncodeErasures(list []Erasure, stored []byte) []byte {
	return encodeList(list, stored, writeErasure)
}

// DecodeErasures reads what EncodeErasures made.
func DecodeErasures(value []byte) ([]Erasure, error) { return decodeList(value, readErasure) }

func writeErasure(b []byte, e *Erasure) []byte {
	b = appendInt(b, 1, e.Index)
	b = appendInt(b, 2, e.Turn)
	return append(b, e.Unknown...)
}

func readErasure(r *reader, e *Erasure) {
	for r.next() {
		switch r.field {
		case 1:
			e.Index = r.int32()
		case 2:
			e.Turn = r.int32()
		default:
			e.Unknown += r.raw
		}
	}
}

// Reclaim is a pruned result that is to be erased.
type Reclaim struct {
	Index   int32  `json:"i"`
	Part    int32  `json:"p"`
	At      int64  `json:"at"` // Unix seconds
	Unknown string `json:"-"`
}

// EncodeReclaims makes the value of a slot. stored is the value that it replaces.
func EncodeReclaims(list []Reclaim, stored []byte) []byte {
	return encodeList(list, stored, writeReclaim)
}

// DecodeReclaims reads what EncodeReclaims made.
func DecodeReclaims(value []byte) ([]Reclaim, error) { return decodeList(value, readReclaim) }

func writeReclaim(b []byte, x *Reclaim) []byte {
	b = appendInt(b, 1, x.Index)
	b = appendInt(b, 2, x.Part)
	b = appendInt(b, 3, x.At)
	return append(b, x.Unknown...)
}

func readReclaim(r *reader, x *Reclaim) {
	for r.next() {
		switch r.field {
		case 1:
			x.Index = r.int32()
		case 2:
			x.Part = r.int32()
		case 3:
			x.At = r.int64()
		default:
			x.Unknown += r.raw
		}
	}
}
