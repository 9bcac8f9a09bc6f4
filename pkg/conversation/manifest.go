package conversation

import (
	"slices"
	"time"
)

// Format is the format in which a context is rendered.
type Format int8

// The formats. The numbers are those of the API.
const (
	FormatUnspecified Format = iota
	FormatNeutral
	FormatOpenAIChat
	FormatOpenAIResponses
	FormatAnthropic
	FormatGemini
)

// Window says which messages a view shows in full order: all from Start on and, before it, those that are kept. These are leading
// system messages, the opening, pinned units, restored units, and the request that was in force when the start last moved.
type Window struct {
	Start   int32 // first message of the tail; always the first message of a unit
	Request int32 // the request that is shown before the start; -1 for none
	Opening int32 // the opening that is shown before the start; -1 for none
	// Restored is the newest restoration whose units are no longer kept before the start.
	Restored int64
	// Afresh is the last edit before the window was opened anew for a larger budget than any before; 0 if it was not. Summaries up
	// to that edit stand for nothing from the start on.
	Afresh int64
	// Cuts list what is cut for lack of room (behaviour §4). They are part of the window and not edits.
	Cuts []Cut
}

// WindowFrom returns a window that starts at a message and keeps nothing before it.
func WindowFrom(start int32) Window { return Window{Start: start, Request: -1, Opening: -1} }

// Equal reports whether two windows show the same.
func (w *Window) Equal(o *Window) bool {
	return w.Start == o.Start && w.Request == o.Request && w.Opening == o.Opening && w.Restored == o.Restored &&
		w.Afresh == o.Afresh && slices.Equal(w.Cuts, o.Cuts)
}

// CutOf returns the cut of a summary or, if summary is 0, of a message; false if there is none.
func (w *Window) CutOf(message int32, summary int64) (Cut, bool) {
	for _, c := range w.Cuts {
		if c.Summary == summary && (summary > 0 || c.Message == message) {
			return c, true
		}
	}
	return Cut{}, false
}

// Cut says how much a window shows of a message's words before its start, or of a summary's text: the first Head characters, and
// Tail characters beginning at character From, in Unicode code points. If both are 0, it shows nothing.
type Cut struct {
	Message int32 `json:"message,omitempty"` // 0 for a summary
	Summary int64 `json:"summary,omitempty"` // 0 for a message
	Head    int32 `json:"head,omitempty"`
	From    int32 `json:"from,omitempty"`
	Tail    int32 `json:"tail,omitempty"`
}

// Leaves reports whether nothing is shown of what is cut.
func (c Cut) Leaves() bool { return c.Head == 0 && c.Tail == 0 }

// Manifest holds what is needed to rebuild the bytes of a committed build.
type Manifest struct {
	Seq             int64 // b12 is 12
	Turn            int32
	Format          Format
	Model           string
	MessageCount    int32
	EditSeq         int64
	Window          Window
	LeadingSystem   int32 // number of leading system messages at the time of the build
	Pins            []Range
	Budget          int64
	Tokens          int64 // of the messages, before the calibration factor
	FixedTokens     int64
	FixedHash       [32]byte
	Counter         string
	Factor          float64
	PolicyHash      string
	RendererVersion int32
	SHA256          [32]byte
	Time            time.Time
	Revision        int64
	Blocks          int32
	UsageReported   bool  // a usage report was counted for it
	EarlierEnd      int32 // leading blocks up to the previous build's end, if the provider's cache finds it by a mark alone; else 0

	// Unknown holds fields that a newer version wrote.
	Unknown string
}
