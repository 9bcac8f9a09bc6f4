package record

import (
	"encoding/json"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Draft is summaries that are being prepared, or are ready. It is replaced, and never changed; so are its texts.
type Draft struct {
	State  string    `json:"state"`
	Owner  string    `json:"owner"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"` // of a failure; safe to show
	Plan
}

// Plan is which summaries a compaction would make, in order: later ones may take up earlier ones.
type Plan struct {
	EditSeq int64  `json:"seq"` // the view that it was made on
	Cut     int32  `json:"cut"` // the first message that stays
	Steps   []Step `json:"steps"`
}

// Step is one summary that is to be.
type Step struct {
	Range conversation.Range `json:"range"`
	Own   conversation.Range `json:"own"` // messages that no earlier summary stands for; empty for a merge
	Level int32              `json:"level"`
	// Children are the ids of summaries in force that it takes up, and Steps the positions in the plan of those that are yet to be.
	Children []int64 `json:"children"`
	Steps    []int   `json:"steps"`
	// Verbatim are the units of high importance that stand beside it: a range for each.
	Verbatim []conversation.Range `json:"verbatim"`
}

// EncodeDraft makes the value of a slot.
func EncodeDraft(d *Draft) []byte { return encodeSlot(d, writeDraft) }

// DecodeDraft reads what EncodeDraft made.
func DecodeDraft(value []byte) (Draft, error) { return decodeSlot(value, readDraft) }

func writeDraft(b []byte, d *Draft) []byte {
	b = appendText(b, 1, d.State)
	b = appendText(b, 2, d.Owner)
	b = appendTime(b, 3, d.Until)
	b = appendText(b, 4, d.Reason)
	return appendNested(b, 5, &d.Plan, writePlan)
}

func readDraft(r *reader, d *Draft) {
	for r.next() {
		switch r.field {
		case 1:
			d.State = r.text()
		case 2:
			d.Owner = r.text()
		case 3:
			d.Until = r.time()
		case 4:
			d.Reason = r.text()
		case 5:
			nested(r, &d.Plan, readPlan)
		}
	}
}

func writePlan(b []byte, p *Plan) []byte {
	b = appendInt(b, 1, p.EditSeq)
	b = appendInt(b, 2, p.Cut)
	return appendAll(b, 3, p.Steps, writeStep)
}

func readPlan(r *reader, p *Plan) {
	for r.next() {
		switch r.field {
		case 1:
			p.EditSeq = r.int64()
		case 2:
			p.Cut = r.int32()
		case 3:
			p.Steps = element(r, p.Steps, readStep)
		}
	}
}

func writeStep(b []byte, s *Step) []byte {
	b = appendNested(b, 1, &s.Range, writeRange)
	b = appendNested(b, 2, &s.Own, writeRange)
	b = appendInt(b, 3, s.Level)
	b = appendPacked(b, 4, s.Children, false)
	b = appendPacked(b, 5, s.Steps, false)
	return appendAll(b, 6, s.Verbatim, writeRange)
}

func readStep(r *reader, s *Step) {
	for r.next() {
		switch r.field {
		case 1:
			nested(r, &s.Range, readRange)
		case 2:
			nested(r, &s.Own, readRange)
		case 3:
			s.Level = r.int32()
		case 4:
			packed(r, func(v int64) { s.Children = append(s.Children, v) })
		case 5:
			packed(r, func(v int64) { s.Steps = append(s.Steps, int(v)) })
		case 6:
			s.Verbatim = element(r, s.Verbatim, readRange)
		}
	}
}

// DraftText is a summary in words.
type DraftText struct {
	Text  string `json:"text"` // with the list of what it would have lost
	Model string `json:"model"`
	Facts
}

// EncodeDraftText makes the value of a slot.
func EncodeDraftText(t *DraftText) []byte { return encodeSlot(t, writeDraftText) }

// DecodeDraftText reads what EncodeDraftText made.
func DecodeDraftText(value []byte) (DraftText, error) { return decodeSlot(value, readDraftText) }

func writeDraftText(b []byte, t *DraftText) []byte {
	b = appendText(b, 1, t.Text)
	b = appendText(b, 2, t.Model)
	return appendNested(b, 3, &t.Facts, writeFacts)
}

func readDraftText(r *reader, t *DraftText) {
	for r.next() {
		switch r.field {
		case 1:
			t.Text = r.text()
		case 2:
			t.Model = r.text()
		case 3:
			nested(r, &t.Facts, readFacts)
		}
	}
}

// Facts are what is stored beside a summary's text for the summary that will take it up. They keep nothing that is unknown: what is
// erased is taken from them, and it might live on in that.
type Facts struct {
	Body  int                 `json:"body"` // bytes of the text before the list
	Facts []conversation.Fact `json:"facts"`
	// Dropped is how many facts were left out for want of room, of all summaries up to this one.
	Dropped int `json:"dropped,omitempty"`
}

// EncodeFacts makes what an edit has as a summary's facts.
func EncodeFacts(f *Facts) []byte { return encodeSlot(f, writeFacts) }

// DecodeFacts reads what EncodeFacts or JSON made.
func DecodeFacts(value []byte) (Facts, error) { return decodeSlot(value, readFacts) }

// JSON is the form of facts in exports, which are text.
func (f *Facts) JSON() ([]byte, error) { return json.Marshal(f) }

func writeFacts(b []byte, f *Facts) []byte {
	b = appendInt(b, 1, f.Body)
	b = appendAll(b, 2, f.Facts, writeFact)
	return appendInt(b, 3, f.Dropped)
}

func readFacts(r *reader, f *Facts) {
	for r.next() {
		switch r.field {
		case 1:
			f.Body = int(r.int64())
		case 2:
			f.Facts = element(r, f.Facts, readFact)
		case 3:
			f.Dropped = int(r.int64())
		}
	}
}

func writeFact(b []byte, f *conversation.Fact) []byte {
	b = appendInt(b, 1, f.Kind)
	b = appendText(b, 2, f.Text)
	b = appendInt(b, 3, f.Count)
	b = appendPacked(b, 4, f.Of, false)
	return appendBool(b, 5, f.ByAgent)
}

func readFact(r *reader, f *conversation.Fact) {
	for r.next() {
		switch r.field {
		case 1:
			f.Kind = conversation.FactKind(r.int32())
		case 2:
			f.Text = r.text()
		case 3:
			f.Count = r.int32()
		case 4:
			packed(r, func(v int32) { f.Of = append(f.Of, v) })
		case 5:
			f.ByAgent = r.bool()
		}
	}
}
