package compaction_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// TestCutWords_LongText_FillsItsLimit: how much is shown depends on the room alone, however long the text is.
func TestCutWords_LongText_FillsItsLimit(t *testing.T) {
	const limit = 1000
	for _, chars := range []int{5_000, 100_000, 4_000_000} {
		text := strings.Repeat("a", chars)
		cut, ok := compaction.CutWords(text, 3, limit, chars4.New())
		n, _ := chars4.New().Count(compaction.ShowWords(text, cut))
		if !ok || n > limit || n < limit-10 {
			t.Errorf("of %d characters %d tokens are shown, and may be %d", chars, n, limit)
		}
	}
}
