package conversation

import "cmp"

// ExpirationMode says what happens to a text after its turns are over.
type ExpirationMode int8

// The modes. The numbers are those of the API. Unspecified means inherited in an override, and none everywhere else.
const (
	ExpirationUnspecified ExpirationMode = iota
	ExpirationNone
	ExpirationRemove
	ExpirationCompact
)

// CompactMode says how text is compacted.
type CompactMode int8

// The modes. The numbers are those of the API. Unspecified means inherited in an override, and the first characters everywhere
// else.
const (
	CompactUnspecified CompactMode = iota
	CompactFirstChars
	CompactSummary
)

// ExpirationSource says where a resolved expiration comes from.
type ExpirationSource int8

// The sources. The numbers are those of the API.
const (
	SourceUnspecified ExpirationSource = iota
	SourceExplicit
	SourceAgentAction
	SourceAction
	SourceTool
	SourceOverride
	SourcePolicy // of the conversation or the server; never stored
)

// DefaultCompactLength is how many characters compaction leaves by default (behaviour §5).
const DefaultCompactLength = 500

// Expiration says for how many turns something is shown in full, and what happens after that (behaviour §5). A nil or zero field
// is not set.
type Expiration struct {
	Turns           *int32
	Mode            ExpirationMode
	CompactMode     CompactMode
	CompactLength   *int32 // in characters
	CompactPromptID string
	// PreserveOriginal, if false, erases the original when it is due.
	PreserveOriginal *bool
	// Source says where a resolved expiration comes from.
	Source ExpirationSource

	// Unknown is what a newer version wrote.
	Unknown string
}

// ExpirationOverride replaces single fields: those that are set. Disable keeps everything as it is, and does not undo anything.
type ExpirationOverride struct {
	Expiration
	Disable bool
}

// Expires reports whether the expiration ever takes effect.
func (e *Expiration) Expires() bool {
	return e != nil && e.Turns != nil && (e.Mode == ExpirationRemove || e.Mode == ExpirationCompact)
}

// Erases reports whether the original is erased when it is due.
func (e *Expiration) Erases() bool {
	return e.Expires() && e.PreserveOriginal != nil && !*e.PreserveOriginal
}

// Whole reports whether both turns and a mode are set. A setting with only one of them is completed by the next source.
func (e *Expiration) Whole() bool {
	return e != nil && e.Turns != nil && e.Mode != ExpirationUnspecified
}

// WithDefaults returns the expiration with defaults for fields that are not set.
func (e Expiration) WithDefaults() Expiration {
	length, preserve := int32(DefaultCompactLength), true
	return e.Or(Expiration{Mode: ExpirationNone, CompactMode: CompactFirstChars, CompactLength: &length, PreserveOriginal: &preserve})
}

// Length is how many characters compaction leaves.
func (e *Expiration) Length() int {
	if e.CompactLength == nil {
		return DefaultCompactLength
	}
	return int(*e.CompactLength)
}

// Or fills fields that are not set from next. If nothing was set, the source is that of next.
func (e Expiration) Or(next Expiration) Expiration {
	if e == (Expiration{Source: e.Source}) {
		e.Source = next.Source
	}
	e.Turns = cmp.Or(e.Turns, next.Turns)
	e.Mode = cmp.Or(e.Mode, next.Mode)
	e.CompactMode = cmp.Or(e.CompactMode, next.CompactMode)
	e.CompactLength = cmp.Or(e.CompactLength, next.CompactLength)
	e.CompactPromptID = cmp.Or(e.CompactPromptID, next.CompactPromptID)
	e.PreserveOriginal = cmp.Or(e.PreserveOriginal, next.PreserveOriginal)
	return e
}

// ActionKey says what an action policy applies to: exactly one field is set.
type ActionKey struct {
	AgentActionID string
	ActionID      string
	ToolName      string
}

// ActionPolicy is an operator's policy for the results of an action or a tool.
type ActionPolicy struct {
	Key        ActionKey
	Expiration Expiration
	// DefaultPromptID is the prompt for results whose expiration names none.
	DefaultPromptID string
	Citations       ActionCitations
	// Importance is for results whose importance nothing else sets.
	Importance Importance
}

// ActionCitations says which results of an action or a tool are cited. A nil field is not set.
type ActionCitations struct {
	On             *bool
	ThresholdChars *int32
}

// Prompt asks a model to summarize. Its template is written by the operator.
type Prompt struct {
	ID        string
	Version   int32 // counts the changes of a stored prompt from 1; 0 for a built-in one
	Template  string
	Models    []string // provider/model, in order of priority
	MaxOutput int32    // in tokens
}
