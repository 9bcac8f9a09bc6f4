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

// EncodeDraft makes the value of a slot, and DecodeDraft reads it.
var EncodeDraft, DecodeDraft = slotOf(draftFields)

func draftFields(f *fields, d *Draft) {
	f.text(1, &d.State)
	f.text(2, &d.Owner)
	f.time(3, &d.Until)
	f.text(4, &d.Reason)
	nested(f, 5, &d.Plan, planFields)
}

func planFields(f *fields, p *Plan) {
	integer(f, 1, &p.EditSeq)
	integer(f, 2, &p.Cut)
	list(f, 3, &p.Steps, stepFields)
}

func stepFields(f *fields, s *Step) {
	nested(f, 1, &s.Range, rangeFields)
	nested(f, 2, &s.Own, rangeFields)
	integer(f, 3, &s.Level)
	numbers(f, 4, &s.Children)
	numbers(f, 5, &s.Steps)
	list(f, 6, &s.Verbatim, rangeFields)
}

// DraftText is a summary in words.
type DraftText struct {
	Text  string `json:"text"` // with the list of what it would have lost
	Model string `json:"model"`
	Facts
}

// EncodeDraftText makes the value of a slot, and DecodeDraftText reads it.
var EncodeDraftText, DecodeDraftText = slotOf(draftTextFields)

func draftTextFields(f *fields, t *DraftText) {
	f.text(1, &t.Text)
	f.text(2, &t.Model)
	nested(f, 3, &t.Facts, factsFields)
}

// Facts are what is stored beside a summary's text for the summary that will take it up. They keep nothing that is unknown: what is
// erased is taken from them, and it might live on in that.
type Facts struct {
	Body  int                 `json:"body"` // bytes of the text before the list
	Facts []conversation.Fact `json:"facts"`
	// Dropped is how many facts were left out for want of room, of all summaries up to this one.
	Dropped int `json:"dropped,omitempty"`
}

// EncodeFacts makes what an edit has as a summary's facts, and DecodeFacts reads that, or what JSON made.
var EncodeFacts, DecodeFacts = slotOf(factsFields)

// JSON is the form of facts in exports, which are text.
func (f *Facts) JSON() ([]byte, error) { return json.Marshal(f) }

func factsFields(f *fields, v *Facts) {
	integer(f, 1, &v.Body)
	list(f, 2, &v.Facts, factFields)
	integer(f, 3, &v.Dropped)
}

func factFields(f *fields, v *conversation.Fact) {
	integer(f, 1, &v.Kind)
	f.text(2, &v.Text)
	integer(f, 3, &v.Count)
	numbers(f, 4, &v.Of)
	f.bool(5, &v.ByAgent)
}
