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

// OldestRebuildable is the earliest version whose bytes this one can write again. Before version 5 every call had a number as its id.
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
	// Pauses: the model's turn may be paused, and goes on where it stands; what the provider's own tools answer may come in later turns.
	Pauses bool
	// Precedes: what the model thought precedes what it said, also where each was appended by itself.
	Precedes bool
	// Reads reports whether the model that is called may be sent what another of the provider's wrote; nil if never.
	Reads func(called, writer string) bool
	// SystemInside reports whether a model takes system messages among the others, and SystemAfter whether one may follow a block of the
	// assistant's; nil if never. They may always follow a user's.
	SystemInside func(model string) bool
	SystemAfter  func(b *Block) bool
	// Residue are the members of residue that the format merges back.
	Residue []string
	// NameField is true if messages have a field for the speaker; without one, a user's name precedes the text.
	NameField bool
	// IDs is the form of calls' ids for a model; nil if the format takes any.
	IDs func(model string) IDForm
	// Request is how a request holds the context; without Messages, the format is no provider's.
	Request RequestShape
}

// UnitContext is what a unit's blocks depend on besides the unit.
type UnitContext struct {
	Model     string                // the model that will be called; empty means any
	Leading   bool                  // a system message of the unit belongs to those that lead the conversation
	Severed   bool                  // the unit begins with the assistant, and what came directly before it is not shown
	Neighbors Neighbors             // what other units say of this one
	Count     func(text string) int // weighs synthetic text
}

// Block is a part of a context that the provider's prompt cache can cache as a whole.
type Block struct {
	System bool   // belongs into system_json
	Role   string // as the provider writes it: system, user, assistant, model, tool, or an item's type
	JSON   []byte
	Tokens int32 // before the factor
	Index  int32 // message it comes from; -1 for a synthetic one
	// Head are members of the message that the block begins, beside its role. System messages of different heads stay apart.
	Head string
	// Summary is what the block says, if it is one; 0 for none.
	Summary int64
	// Paused: the block ends a turn of the model's that was paused, so that nothing need follow it.
	Paused bool
	// AsUser is a system message among the others as the user's text, for places where the provider takes none; nil of all other blocks.
	AsUser *Block
}

// UnitBlocks is the rendering of a unit.
type UnitBlocks struct {
	Blocks  []Block
	Repairs []Repair
	// Messages is the neutral form, filled by the neutral format alone.
	Messages []Message
	// Ties are what the unit has to do with its neighbors.
	Ties Ties
}

// Message is a message of the neutral form.
type Message struct {
	Name      string // who of several in the role speaks
	Role      conversation.Role
	Parts     []conversation.Part
	Tokens    int32
	EditSeq   int64
	Index     int32  // -1 for a synthetic one
	Last      int32  // the last message that it shows, where it shows several; 0 otherwise
	Summary   int64  // 0 if it is no summary
	Synthetic string // why it was made up
	Shortened bool   // the window shows a part of it
}

// Repair is a change that was made to render a legal context. The record is unchanged.
type Repair struct {
	Index  int32 // message; -1 for a synthetic one
	Reason conversation.Reason
	Tokens int64 // that it added (or took, if negative)
}
