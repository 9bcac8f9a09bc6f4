package conversation

import (
	"slices"
	"time"
)

// Format says whose shape a context is rendered in.
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

// Window is which messages a view shows in full order: all from Start on, and before it what is kept: leading system
// messages, the opening, pinned units, restored units, and the request that was in force when the start last moved.
type Window struct {
	Start   int32 // the first message of the tail; always the first of a unit
	Request int32 // the request that is shown before the start; -1 for none
	Opening int32 // the opening that is shown before the start; -1 for none
	// Restored is the last edit whose restoration no longer keeps a unit before the start in view.
	Restored int64
	// Afresh is the last edit before the window was opened for a larger budget than any before; 0 if it was not. Summaries that were
	// made until then stand for nothing from the start on.
	Afresh int64
	// Cuts are what the window has not the room to show whole (behaviour §4). They belong to it alone: they are no edits.
	Cuts []Cut
}

// WindowFrom is a window that begins at a message and keeps nothing before it.
func WindowFrom(start int32) Window { return Window{Start: start, Request: -1, Opening: -1} }

// Equal says whether two windows show the same.
func (w *Window) Equal(o *Window) bool {
	return w.Start == o.Start && w.Request == o.Request && w.Opening == o.Opening && w.Restored == o.Restored &&
		w.Afresh == o.Afresh && slices.Equal(w.Cuts, o.Cuts)
}

// CutOf is the cut of a message, or of a summary if that is above 0; none if it has none.
func (w *Window) CutOf(message int32, summary int64) (Cut, bool) {
	for _, c := range w.Cuts {
		if c.Summary == summary && (summary > 0 || c.Message == message) {
			return c, true
		}
	}
	return Cut{}, false
}

// Cut says how much a window shows of a message's words before its start, or of a summary's text: Head characters from the
// beginning, and Tail characters from character From on, in Unicode code points. With neither it shows nothing of it.
type Cut struct {
	Message int32 `json:"message,omitempty"` // 0 for a summary
	Summary int64 `json:"summary,omitempty"` // 0 for a message
	Head    int32 `json:"head,omitempty"`
	From    int32 `json:"from,omitempty"`
	Tail    int32 `json:"tail,omitempty"`
}

// Leaves says whether nothing of what is cut is shown.
func (c Cut) Leaves() bool { return c.Head == 0 && c.Tail == 0 }

// Manifest holds the coordinates of one committed build: enough to rebuild its bytes.
type Manifest struct {
	Seq             int64 // b12 is 12
	Turn            int32
	Format          Format
	Model           string
	MessageCount    int32
	EditSeq         int64
	Window          Window
	LeadingSystem   int32 // messages at the start of the record that are the system's, as of the build
	Pins            []Range
	Budget          int64
	Tokens          int64 // of the messages, before the factor
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
	UsageReported   bool  // a usage report counted for it
	EarlierEnd      int32 // leading blocks that the build before ended with, if the provider's cache finds them by a mark alone; 0 for none

	// Unknown is what a newer version wrote.
	Unknown string
}
