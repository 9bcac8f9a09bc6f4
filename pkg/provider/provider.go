// Package provider defines how a view is written for a model's provider, and what each provider accepts as legal. A format is pure: under
// one RendererVersion, the same units always give the same bytes.
//
// A context is a sequence of blocks. Each unit of the view becomes blocks regardless of its neighbors, except for what Neighbors says of
// them; an Assembly joins them into the provider's JSON. So an unchanged unit need not be rendered again, and a prefix of equal blocks is a
// prefix of equal bytes.
package provider

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// RendererVersion increases whenever any format writes different bytes for the same view.
const RendererVersion int32 = 5

// OldestRebuildable is the oldest version whose bytes this one can write again. Before version 5, calls had numbers as ids.
const OldestRebuildable int32 = 5

// Format writes units for one provider.
type Format interface {
	Format() conversation.Format
	Traits() Traits
	// Unit writes one unit. Every content it shows must be inline.
	Unit(u *conversation.Unit, c UnitContext) UnitBlocks
}

// Traits describes what a provider requires of a context as a whole.
type Traits struct {
	Name        string // such as openai-chat
	Provider    string // whose reasoning and opaque blocks come back: openai, anthropic, gemini
	SystemApart bool   // leading system blocks go to system_json, not among the messages
	Merge       bool   // neighbors with the same role become one message with their blocks
	UserFirst   bool   // the first message must be the user's
	UserLast    bool   // the last message must be the user's
	ContentKey  string // for Merge: the key of the blocks in a message: content, parts
	// SystemPrefix and SystemSuffix enclose the system blocks in system_json, if SystemApart.
	SystemPrefix, SystemSuffix string
	// TextPrefix and TextSuffix enclose a JSON string to make it the user's text: a block, or a piece of system_json.
	TextPrefix, TextSuffix string
	NoBlank                bool // text of white space alone is as forbidden as empty text
	// Pauses is set if the model's turn may be paused and goes on later; answers of the provider's own tools may come in later turns.
	Pauses bool
	// Precedes is set if the model's reasoning must come before its text even if the two were appended separately.
	Precedes bool
	// Reads reports whether one model of the provider may be sent private blocks of another; nil if never.
	Reads func(called, writer string) bool
	// SystemInside reports whether a model takes system messages among the others. SystemAfter reports whether one may follow a block of
	// the assistant. Nil means never. A system message may always follow a user message.
	SystemInside func(model string) bool
	SystemAfter  func(b *Block) bool
	// Residue lists the members of residue that the format writes back.
	Residue []string
	// NameField is true if messages have a field for the speaker; without one, a user's name precedes the text.
	NameField bool
	// IDs returns the form of call ids for a model; nil if the format takes any id.
	IDs func(model string) IDForm
	// Request says how a request holds the context. Without Messages, the format belongs to no provider.
	Request RequestShape
}

// UnitContext is what a unit's blocks depend on besides the unit.
type UnitContext struct {
	Model     string                // the model that will be called; empty means any
	Leading   bool                  // a system message of the unit belongs to those that lead the conversation
	Severed   bool                  // the unit begins with the assistant, and the message directly before it is not shown
	Neighbors Neighbors             // what the unit must know of other units
	Count     func(text string) int // counts the tokens of synthetic text
}

// Block is a part of a context that the provider's prompt cache can cache as a whole.
type Block struct {
	System bool   // belongs into system_json
	Role   string // as the provider writes it: system, user, assistant, model, tool, or the type of an item
	JSON   []byte
	Tokens int32 // before the calibration factor
	Index  int32 // message it comes from; -1 for a synthetic one
	// Head holds other members of the message that the block begins, as JSON. System messages with different heads stay separate.
	Head string
	// Summary is the number of the summary that the block shows; 0 for none.
	Summary int64
	// Paused is set if the block ends a turn that was paused, so that nothing need follow it.
	Paused bool
	// AsUser is the block of a system message rewritten as user text, for places where the provider takes no system message; nil for other
	// blocks.
	AsUser *Block
}

// UnitBlocks is the rendering of a unit.
type UnitBlocks struct {
	Blocks  []Block
	Repairs []Repair
	// Messages is the neutral form. Only the neutral format sets it.
	Messages []Message
	// Ties is what the unit has to do with its neighbors.
	Ties Ties
}

// Message is a message of the neutral form.
type Message struct {
	Name      string // which of several speakers in the role
	Role      conversation.Role
	Parts     []conversation.Part
	Tokens    int32
	EditSeq   int64
	Index     int32  // -1 for a synthetic one
	Last      int32  // the last message that it shows, if it shows several; otherwise 0
	Summary   int64  // 0 if it is not a summary
	Synthetic string // why it was added; empty for a recorded message
	Shortened bool   // the window shows only part of it
}

// Repair is a change that was made to render a legal context. The record is unchanged.
type Repair struct {
	Index  int32 // message; -1 for a synthetic one
	Reason conversation.Reason
	Tokens int64 // tokens that it added; negative if it removed some
}
