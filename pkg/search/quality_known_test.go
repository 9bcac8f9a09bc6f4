package search

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// recordedConversation is what a recorded conversation holds.
type recordedConversation struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Raw     string `json:"raw"`
	} `json:"messages"`
}

// folded folds case and white space.
func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// knownItems asks for eight running words of each large output, in several places, and counts those that the first excerpt holds.
func knownItems(t *testing.T, folder string) (held, all int) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range recorded[recordedConversation](t, folder, "conversations.jsonl") {
		for _, m := range c.Messages {
			document := m.Content
			if len(m.Raw) > len(document) {
				document = m.Raw
			}
			words := strings.Fields(document)
			if (m.Role != "tool" && m.Role != "user") || len(document) <= 5000 || len(words) < 8 {
				continue
			}
			d := NewDocument(content.Read(content.KindOf("", document), document))
			for range 3 {
				at := random.IntN(len(words) - 7)
				term := strings.Join(words[at:at+8], " ")
				all++
				if e := ask(term, d); len(e) > 0 && strings.Contains(folded(e[0].Text), folded(term)) {
					held++
				} else if testing.Verbose() && len(term) < 300 {
					t.Logf("not held: %q", term)
				}
			}
		}
	}
	return held, all
}

func TestSearch_Excerpts_KnownItemsComeFirst(t *testing.T) {
	for _, folder := range []string{"mini_swe_agent", "swe_agent", "pi_sessions"} {
		t.Run(folder, func(t *testing.T) {
			held, all := knownItems(t, folder)
			t.Logf("%d of %d known items are in the first excerpt", held, all)
			if held*100 < all*98 {
				t.Error("at least 98 % must be")
			}
		})
	}
}
