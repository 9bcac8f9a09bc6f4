package choice

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Entry is one line that an extract may show.
type Entry struct {
	// label is put before the text: where it stands, how many it stands for.
	Label string
	Text  string
	// order is where the piece stands among those that are shown.
	Order int
	// unit is which of its text's units the piece shows, where that is needed.
	Unit int
	// worth decides who gets room first.
	Score float64
	// most is how many characters of text are shown at most; more are cut with an ellipsis.
	MaxChars int
	// stands is how many of the draft's units the piece shows or speaks for.
	Represents int
	// whole is for a piece that is worthless if it is cut.
	Whole bool
}

// minUseful is how many characters of a line are worth showing when it has to be cut because the room ends.
const minUseful = 40

// Pack shows the pieces of the greatest worth that fit into room characters, each after a line break, in their order. It also
// returns how many units they stand for.
func Pack(pieces []Entry, room int) (body string, stands int) {
	byWorth := slices.Clone(pieces)
	slices.SortStableFunc(byWorth, func(a, b Entry) int { return cmp.Compare(b.Score, a.Score) })
	var taken []Entry
	for _, p := range byWorth {
		if room < 2 {
			break
		}
		if shown, n := p.fit(room - 1); n > 0 {
			p.Text = shown
			taken = append(taken, p)
			room -= n + 1
		}
	}
	slices.SortStableFunc(taken, func(a, b Entry) int { return cmp.Compare(a.Order, b.Order) })
	var b strings.Builder
	for _, p := range taken {
		b.WriteString("\n" + p.Label + p.Text)
		stands += p.Represents
	}
	return b.String(), stands
}

// fit returns what of the piece's text is shown in room characters and how many characters it takes with its label, or 0.
func (p Entry) fit(room int) (text string, n int) {
	label := utf8.RuneCountInString(p.Label)
	shown := content.Clip(p.Text, p.MaxChars)
	n = label + utf8.RuneCountInString(shown)
	if n <= room {
		return shown, n
	}
	if p.Whole || room-label < minUseful {
		return "", 0
	}
	shown = content.Clip(p.Text, room-label)
	return shown, label + utf8.RuneCountInString(shown)
}
