package appends

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// ViewPiece is a run of neighbors in a view, with the elements of the caller's list that they stand for.
type ViewPiece struct {
	Kind     PieceKind
	Elements []int32               // set for PieceWhole and PieceChanged
	JSON     string                // what is shown, as elements of a list; empty for PieceWhole
	Reasons  []conversation.Reason // set for PieceChanged
	Messages conversation.Range    // messages that the piece shows or stands for; empty for PieceMadeUp
}

// PieceKind says how a piece relates to the caller's list. The numbers are those of the API.
type PieceKind int8

// The kinds.
const (
	PieceWhole    PieceKind = iota + 1 // the elements are shown as the caller has them
	PieceChanged                       // the elements are shown differently
	PieceSummary                       // a summary of a range
	PieceMadeUp                        // what the provider requires and nobody said
	PieceRecorded                      // recorded messages that the list does not hold
)
