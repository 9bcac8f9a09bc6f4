package appends

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// History is a caller's whole list of messages. What the record has of it is found in it; the rest is appended.
type History struct {
	Input *provider.Input
	// KnownCount and KnownSHA256 are of the elements before those of the input, which an earlier call had; 0 and empty for none.
	KnownCount  int32
	KnownSHA256 string // lower-case hexadecimal
	Divergence  OnDivergence
}

// OnDivergence says what happens where a whole list differs from the record. The numbers are those of the API.
type OnDivergence int8

// What happens where a list differs.
const (
	DivergenceUnspecified OnDivergence = iota // as DivergenceRefuse
	DivergenceRefuse
	DivergenceRewind
)

// HistoryResult says how a whole list was read.
type HistoryResult struct {
	KnownCount  int32
	KnownSHA256 string             // lower-case hexadecimal
	Matched     int32              // elements that were on record already, or stand for nothing
	Rewound     conversation.Range // that were taken back; empty if none were
}
