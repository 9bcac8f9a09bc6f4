package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// The types for reading providers' JSON.
type (
	// ReadRequest is JSON to read.
	ReadRequest = provider.ReadRequest
	// Input is what was read.
	Input = provider.Input
	// InputShape says what a provider's JSON holds.
	InputShape = provider.Shape
	// History is a caller's whole list of messages.
	History = appends.History
	// HistoryResult says how a whole list was read.
	HistoryResult = appends.HistoryResult
	// ViewPiece is a run of neighbors in a view, and the elements of the caller's list that they stand for.
	ViewPiece = appends.ViewPiece
	// PieceKind says how a piece relates to the caller's list.
	PieceKind = appends.PieceKind
	// OnDivergence says what to do where a whole list differs from the record.
	OnDivergence = appends.OnDivergence
	// OnCut says what to do with recorded messages that a whole list no longer holds.
	OnCut = appends.OnCut
	// OpenCall is a call that waits for a result.
	OpenCall = appends.OpenCall
)

// ShapeHistory is the shape of a whole list.
const ShapeHistory = provider.ShapeHistory

// What to do where a whole list differs from the record, or lacks a part of it.
const (
	DivergenceRefuse = appends.DivergenceRefuse
	DivergenceRewind = appends.DivergenceRewind
	DivergenceNew    = appends.DivergenceNew
	CutKeep          = appends.CutKeep
	CutHide          = appends.CutHide
)

// How a piece of a view relates to the caller's list.
const (
	PieceWhole    = appends.PieceWhole
	PieceChanged  = appends.PieceChanged
	PieceSummary  = appends.PieceSummary
	PieceMadeUp   = appends.PieceMadeUp
	PieceRecorded = appends.PieceRecorded
)

// ReadUsage reads the JSON object in which a provider reports the usage of a call.
func (e *Engine) ReadUsage(json string) (*Usage, error) { return provider.ReadUsage(json) }

// ReadInput turns a provider's JSON into messages.
func (e *Engine) ReadInput(f conversation.Format, r *ReadRequest) (*Input, error) {
	reader, ok := e.readers[f]
	if !ok {
		return nil, conversation.Errorf(conversation.Internal, "no reader of the format is built in")
	}
	return reader.Read(r)
}

func readersByFormat(readers []provider.Reader) map[conversation.Format]provider.Reader {
	out := make(map[conversation.Format]provider.Reader, len(readers))
	for _, r := range readers {
		out[r.Format()] = r
	}
	return out
}
