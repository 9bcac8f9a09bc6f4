package palimpsest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Piece is a run of neighbors in a view.
type Piece struct {
	// Kind is "whole", "changed", "summary", "made_up" or "recorded": see
	// ViewPieceKind of the API.
	Kind string
	// Indexes are the elements of the list that it stands for.
	Indexes []int
	// Shown is an array of what the model is shown in their place; nil for a
	// whole piece, for which the caller sends its own.
	Shown json.RawMessage
}

// Whole says whether the caller sends its own elements.
func (p *Piece) Whole() bool { return p.Kind == whole }

const whole = "whole"

// View is Sync by place, for whoever keeps values of its own: what the model
// should see, as runs of the list's elements. Where the list differs the
// record is taken back, or another conversation begins (DiffersNew), and what the
// list no longer holds is hidden (CutHide), unless the request says otherwise.
func (c *Conversation) View(ctx context.Context, format Format, messages json.RawMessage, r Request) ([]Piece, error) {
	r.Differs, r.Cut = cmp.Or(r.Differs, DiffersNew), cmp.Or(r.Cut, CutHide)
	l, err := c.listed(format, messages, r)
	if err != nil {
		return nil, err
	}
	l.history.ByPlace = true
	err = c.sync(ctx, l)
	if err == nil {
		pieces := piecesOf(c.built.GetHistory().GetView(), l)
		c.views[format] = lastView{pieces: pieces}
		for i := range pieces {
			c.shaped = c.shaped || !pieces[i].Whole()
		}
		return pieces, nil
	}
	behind, err := c.passed(err, l, func(v *lastView) bool { return v.pieces != nil })
	if err != nil {
		return nil, err
	}
	var pieces []Piece
	if behind > 0 {
		pieces = append(pieces, c.views[format].pieces...)
	}
	if rest := indexes(behind, len(l.elements)); len(rest) > 0 {
		pieces = append(pieces, Piece{Kind: whole, Indexes: rest})
	}
	return pieces, nil
}

func indexes(from, end int) []int {
	var out []int
	for i := from; i < end; i++ {
		out = append(out, i)
	}
	return out
}

// piecesOf are the pieces of an answer. What was sent with a citation in the place of a long text is not the caller's own.
func piecesOf(view []*pb.ViewPiece, l *listed) []Piece {
	pieces := []Piece{}
	for _, answered := range view {
		kind := strings.ToLower(strings.TrimPrefix(answered.GetKind().String(), "VIEW_PIECE_KIND_"))
		if kind != whole {
			piece := Piece{Kind: kind, Shown: json.RawMessage(answered.GetJson())}
			for _, at := range answered.GetListIndexes() {
				piece.Indexes = append(piece.Indexes, int(at))
			}
			pieces = append(pieces, piece)
			continue
		}
		pieces = append(pieces, wholePieces(answered.GetListIndexes(), l)...)
	}
	return pieces
}

func wholePieces(indexes []int32, l *listed) (pieces []Piece) {
	goesOn := false
	for _, i := range indexes {
		at := int(i)
		switch {
		case at < len(l.elements) && !bytes.Equal(l.elements[at], l.sent[at]):
			pieces, goesOn = append(pieces, Piece{Kind: "changed", Indexes: []int{at}, Shown: array(l.sent[at : at+1])}), false
		case goesOn:
			last := &pieces[len(pieces)-1]
			last.Indexes = append(last.Indexes, at)
		default:
			pieces, goesOn = append(pieces, Piece{Kind: whole, Indexes: []int{at}}), true
		}
	}
	return pieces
}

// OnUnavailable says what Sync and View do while the sidecar is away.
type OnUnavailable string

// What they do.
const (
	// UnavailableRaise fails.
	UnavailableRaise OnUnavailable = "raise"
	// UnavailablePass answers within a moment: the last view and what is new behind it,
	// or the list as it is if no view changed it. Where that cannot be known,
	// as after a restart, it fails all the same.
	UnavailablePass OnUnavailable = "pass"
)

// WithOnUnavailable says what whole lists do while the sidecar is away;
// UnavailableRaise by default.
func WithOnUnavailable(do OnUnavailable) Option { return func(o *options) { o.onUnavailable = do } }

// OnUnavailableOf says so for a conversation alone.
func OnUnavailableOf(do OnUnavailable) ConversationOption {
	return func(c *Conversation) { c.passes = do == UnavailablePass }
}

// passing is the patience with a list that may pass by itself.
const passing = 500 * time.Millisecond

// lastView is the last answer to a list: pieces, or a request's body.
type lastView struct {
	pieces []Piece
	body   string
}

// passed is how much of a list the last view stands for, where lists pass: the rest goes behind it as it is. A list that no view may have
// changed goes so as a whole.
func (c *Conversation) passed(err error, l *listed, isOfKind func(*lastView) bool) (behind int, _ error) {
	failed := (*Error)(nil)
	if !c.passes || !errors.As(err, &failed) || !failed.Passing() && !failed.away {
		return 0, err
	}
	view, known := c.views[l.format], c.prefixOf(l)
	switch {
	case known.count > 0 && isOfKind(&view):
		return known.count, nil
	case len(c.views) > 0 && !c.shaped || len(c.views) == 0 && isFirst(l.elements):
		return 0, nil
	default:
		return 0, err
	}
}

// isFirst says whether nothing in a list was said by a model.
func isFirst(elements []json.RawMessage) bool {
	for _, element := range elements {
		var said struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(element, &said) != nil || said.Role != "user" && said.Role != "system" && said.Role != "developer" {
			return false
		}
	}
	return true
}
