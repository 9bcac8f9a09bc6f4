package conversation

import "cmp"

// ExpirationMode says what happens to what has outlived its turns.
type ExpirationMode int8

// The modes. The numbers are those of the API. In an override, unspecified inherits; everywhere else it is none.
const (
	ExpirationUnspecified ExpirationMode = iota
	ExpirationNone
	ExpirationRemove
	ExpirationCompact
)

// CompactMode says how text is compacted.
type CompactMode int8

// The modes. The numbers are those of the API. In an override, unspecified inherits; everywhere else it is the first characters.
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
	SourcePolicy // the conversation's or the server's; it is never stored
)

// DefaultCompactLength is how many characters compaction leaves where nothing else is said (behaviour §5).
const DefaultCompactLength = 500

// Expiration says how many turns something is shown in full, and what happens then (behaviour §5). A nil or zero field is not
// set.
type Expiration struct {
	Turns           *int32
	Mode            ExpirationMode
	CompactMode     CompactMode
	CompactLength   *int32 // characters
	CompactPromptID string
	// PreserveOriginal false erases the original when it is due.
	PreserveOriginal *bool
	// Source says where it comes from, once it is resolved.
	Source ExpirationSource

	// Unknown is what a newer version wrote.
	Unknown string
}

// ExpirationOverride replaces what is set in it, field by field. Disable keeps everything as it is, and undoes nothing.
type ExpirationOverride struct {
	Expiration
	Disable bool
}

// Expires says whether it ever does anything.
func (e *Expiration) Expires() bool {
	return e != nil && e.Turns != nil && (e.Mode == ExpirationRemove || e.Mode == ExpirationCompact)
}

// Erases says whether the original goes when it is due.
func (e *Expiration) Erases() bool {
	return e.Expires() && e.PreserveOriginal != nil && !*e.PreserveOriginal
}

// Whole says whether it says both when and what: turns or a mode alone is half a setting, and merged with what stands below it.
func (e *Expiration) Whole() bool {
	return e != nil && e.Turns != nil && e.Mode != ExpirationUnspecified
}

// WithDefaults is the expiration with what is not set said.
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

// Or returns the expiration with what is not set taken from next, field by field. The source is next's if nothing was set.
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

// ActionKey names what an action policy is for: exactly one field is set.
type ActionKey struct {
	AgentActionID string
	ActionID      string
	ToolName      string
}

// ActionPolicy is what an operator says of an action's or a tool's results.
type ActionPolicy struct {
	Key        ActionKey
	Expiration Expiration
	// DefaultPromptID is the prompt for results whose expiration names none.
	DefaultPromptID string
	Citations       ActionCitations
	// Importance is that of results for which nothing else sets one.
	Importance Importance
}

// ActionCitations says which results of an action or a tool are cited. A nil field is not set.
type ActionCitations struct {
	On             *bool
	ThresholdChars *int32
}

// Prompt asks a model to summarize. Its template is the operator's.
type Prompt struct {
	ID        string
	Version   int32 // counts the changes of a stored prompt, from 1; 0 is built in
	Template  string
	Models    []string // provider/model, in order of priority
	MaxOutput int32    // tokens
}
