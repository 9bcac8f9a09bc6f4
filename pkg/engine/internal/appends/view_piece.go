package appends

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// ViewPiece is a run of neighbors in a view, and the elements of the caller's list that they stand for.
type ViewPiece struct {
	Kind     PieceKind
	Elements []int32               // for PieceWhole and PieceChanged
	JSON     string                // for all but PieceWhole: what is shown, as elements of a list
	Reasons  []conversation.Reason // for PieceChanged
	Messages conversation.Range    // that it shows or stands for; empty for PieceMadeUp
}

// PieceKind says what a piece is to the caller's list. The numbers are those of the API.
type PieceKind int8

// The kinds.
const (
	PieceWhole    PieceKind = iota + 1 // the elements, as the caller has them
	PieceChanged                       // the elements, shown otherwise
	PieceSummary                       // of a range
	PieceMadeUp                        // what providers demand and nobody said
	PieceRecorded                      // messages that the list does not hold
)
