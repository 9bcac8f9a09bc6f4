package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// piece is one line that an extract may show.
type piece struct {
	// label is put before the text: where it stands, how many it stands for.
	label string
	text  string
	// order is where the piece stands among those that are shown.
	order int
	// unit is which of its text's units the piece shows, where that is needed.
	unit int
	// worth decides who gets room first.
	worth float64
	// most is how many characters of text are shown at most; more are cut with an ellipsis.
	most int
	// stands is how many of the draft's units the piece shows or speaks for.
	stands int
	// whole is for a piece that is worthless if it is cut.
	whole bool
}

// leastUseful is how many characters of a line are worth showing when it has to be cut because the room ends.
const leastUseful = 40

// pack shows the pieces of the greatest worth that fit into room characters, each after a line break, in their order. It also
// returns how many units they stand for.
func pack(pieces []piece, room int) (body string, stands int) {
	byWorth := slices.Clone(pieces)
	slices.SortStableFunc(byWorth, func(a, b piece) int { return cmp.Compare(b.worth, a.worth) })
	var taken []piece
	for _, p := range byWorth {
		if room < 2 {
			break
		}
		if shown, n := p.fit(room - 1); n > 0 {
			p.text = shown
			taken = append(taken, p)
			room -= n + 1
		}
	}
	slices.SortStableFunc(taken, func(a, b piece) int { return cmp.Compare(a.order, b.order) })
	var b strings.Builder
	for _, p := range taken {
		b.WriteString("\n" + p.label + p.text)
		stands += p.stands
	}
	return b.String(), stands
}

// fit returns what of the piece's text is shown in room characters and how many characters it takes with its label, or 0.
func (p piece) fit(room int) (text string, n int) {
	label := utf8.RuneCountInString(p.label)
	shown := clip(p.text, p.most)
	n = label + utf8.RuneCountInString(shown)
	if n <= room {
		return shown, n
	}
	if p.whole || room-label < leastUseful {
		return "", 0
	}
	shown = clip(p.text, room-label)
	return shown, label + utf8.RuneCountInString(shown)
}
