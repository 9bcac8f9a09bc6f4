package choice

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// Entry is a line that an extract may show.
type Entry struct {
	// Label precedes the text: where it is, how many lines it represents.
	Label string
	Text  string
	// Order is the entry's position among those that are shown.
	Order int
	// Unit is the unit of the text that the entry shows, where needed.
	Unit int
	// Score decides which entries get room first.
	Score float64
	// MaxChars limits how many characters of the text are shown; the rest becomes an ellipsis.
	MaxChars int
	// Represents is how many units of the draft the entry shows or stands for.
	Represents int
	// Whole is true if the entry is useless when cut.
	Whole bool
}

// minUseful is how many characters of a line are worth showing when room runs out.
const minUseful = 40

// Pack shows the entries with the highest scores that fit into room characters, each after a line break, in order. It also returns how many
// units they represent.
func Pack(entries []Entry, room int) (body string, stands int) {
	byWorth := slices.Clone(entries)
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

// fit returns the entry's text as it fits into room characters, and its length including the label; 0 if it does not fit.
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
