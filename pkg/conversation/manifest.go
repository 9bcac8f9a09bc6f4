package conversation

import "time"

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
// messages, pinned units, restored units, and the user message Anchor.
type Window struct {
	Start  int32 // the first message of the tail; always the first of a unit
	Anchor int32 // the user message that was the newest when the start last moved; -1 for none
	// Restored is the last edit whose restoration no longer keeps a unit before the start in view.
	Restored int64
}

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
	UsageReported   bool // a usage report counted for it
}
