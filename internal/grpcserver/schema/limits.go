package schema

import (
	"math"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

const (
	// MaxContentBytes is the largest text, and the largest bytes, of any field.
	MaxContentBytes = 16 << 20
	// MaxIndex is the largest index that a message can have.
	MaxIndex = math.MaxInt32
)

// NameLimit is that of an identifier or a name: as long as the API lets names be.
func NameLimit() rules.Limit { return rules.ByteRange(1, 256) }

// OptionalNameLimit is that of a name that may be empty.
func OptionalNameLimit() rules.Limit { return rules.AtMostBytes(256) }

// TokensLimit is that of a number of tokens.
func TokensLimit() rules.Limit { return rules.NumberRange(0, 100_000_000) }

// WindowLimit is that of what a model or a budget holds, in tokens.
func WindowLimit() rules.Limit { return rules.NumberRange(1, 100_000_000) }

// IndexLimit is that of the index of a message.
func IndexLimit() rules.Limit { return rules.NumberRange(0, MaxIndex) }

// PlaceLimit is that of a place in a content.
func PlaceLimit() rules.Limit { return rules.NumberRange(0, convert.MaxPlace) }

func handleLimit() rules.Limit { return rules.ByteRange(1, 64) }

// RecentLimit is how many of the newest messages a compaction can be told to keep.
func RecentLimit() rules.Limit { return rules.NumberRange(0, 10_000) }

// ThresholdLimit is how long results may be that are not cited, in characters.
func ThresholdLimit() rules.Limit { return rules.NumberRange(200, 100_000_000) }
