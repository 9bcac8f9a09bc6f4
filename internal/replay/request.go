package replay

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	// leastChars is what a context shows at least of words that have no room in
	// full, by behaviour §4.
	leastChars = 200
	// edgeChars is the length of a head or a tail from which it counts as shown.
	edgeChars = 20
	// shortChars is up to which length a text must stand alone to be seen: a
	// short one stands in many others.
	shortChars = 40
)

// userWords is a message in which a user's own words stand.
type userWords struct {
	message int
	texts   []string
	chars   int
	weight  int
}

// trackUserWords remembers a message that was just appended if a user's own words stand
// in it: the first such message is the opening, the newest one the request in
// force (behaviour §1).
func (c *conversation) trackUserWords(m *pb.Message) {
	if m.GetRole() != pb.Role_ROLE_USER || slices.Contains([]pb.MessageType{
		pb.MessageType_MESSAGE_TYPE_ACTION_RESULT, pb.MessageType_MESSAGE_TYPE_SUB_AGENT_RESULT, pb.MessageType_MESSAGE_TYPE_RETRY_CONTEXT,
	}, m.GetMessageType()) {
		return
	}
	own := recall.Message(m)
	said := &userWords{message: len(c.appended) - 1, weight: own.Tokens(c.count)}
	for _, item := range own.Items {
		if item.Kind == validate.Text && strings.TrimSpace(item.Texts[0]) != "" {
			said.texts = append(said.texts, item.Texts[0])
			said.chars += utf8.RuneCountInString(item.Texts[0])
		}
	}
	if len(said.texts) == 0 {
		return
	}
	if c.opening == nil {
		c.opening = said
	}
	c.inForce = said
}

// checkUserWords demands the request in force and the opening of a context, as far as
// what claims the room before them leaves any (behaviour §4). Each claim is
// taken for at least what it weighs, so what is demanded has room.
func (c *conversation) checkUserWords(blocks []validate.Block, room int) {
	if c.inForce == nil {
		return
	}
	newest, taken := c.history.Len()-len(c.history.Newest()), c.history.Bone()+c.fixed
	texts := userTexts(blocks)
	if c.inForce.message < newest {
		share := min(room/2, room-taken)
		c.demand(c.inForce, texts, share, room, claim{"request_missing", &c.RequestMissing, "request_cut", &c.RequestCut})
		taken += min(c.inForce.weight, share)
	}
	if c.opening.message < newest && c.opening != c.inForce && c.policy.keepsOpening() {
		share := min(room/10, room-taken)
		c.demand(c.opening, texts, share, room, claim{"opening_missing", &c.OpeningMissing, "opening_cut", &c.OpeningCut})
	}
}

// claim is where it is counted that words are missing, and that they are cut
// without need.
type claim struct {
	missing  string
	nMissing *int
	cut      string
	nCut     *int
}

// demand holds what a context shows of a user's words against the room that is
// theirs: all of them if they fit it, else head and tail.
func (c *conversation) demand(said *userWords, texts []string, share, room int, figure claim) {
	if said.wholeIn(texts) {
		return
	}
	whole := said.weight <= share || c.whole+c.fixed+validate.Opener() <= room
	shown := said.shownIn(texts)
	detail := fmt.Sprintf("message %d of %d tokens: %d of its %d characters are shown, %d tokens of %d are its room",
		said.message, said.weight, shown, said.chars, share, room)
	switch {
	case shown < min(leastChars, said.chars) && (whole || said.cut(c.count) <= share):
		c.fail(figure.missing, figure.nMissing, detail)
	case whole:
		c.fail(figure.cut, figure.nCut, detail)
	}
}

// cut is the least that head and tail of the words weigh.
func (u *userWords) cut(count validate.Counter) int {
	return validate.Cut(strings.Join(u.texts, "\n"), leastChars, count)
}

// userTexts are the texts that a context shows as a user's.
func userTexts(blocks []validate.Block) (out []string) {
	for i := range blocks {
		if blocks[i].Role != "user" {
			continue
		}
		for _, item := range blocks[i].Items {
			if item.Kind == validate.Text {
				out = append(out, item.Texts...)
			}
		}
	}
	return out
}

// wholeIn says whether all words are shown as they were said.
func (u *userWords) wholeIn(shown []string) bool {
	alone := len(u.texts) == 1 && u.chars < shortChars
	return !slices.ContainsFunc(u.texts, func(text string) bool {
		return !slices.ContainsFunc(shown, func(s string) bool { return s == text || !alone && strings.Contains(s, text) })
	})
}

// shownIn counts the characters of the words that are shown: of each text the
// head and the tail, as far as one text of the context holds them.
func (u *userWords) shownIn(shown []string) (n int) {
	for _, text := range u.texts {
		most := 0
		for _, s := range shown {
			most = max(most, edges(s, text))
		}
		n += min(most, utf8.RuneCountInString(text))
	}
	return n
}

// edges counts the characters of a text's head and tail that s holds, the head
// first. A cut text without one of them is none.
func edges(s, text string) int {
	runes := []rune(text)
	if len(runes) <= edgeChars || strings.Contains(s, text) {
		if strings.Contains(s, text) && (len(runes) >= shortChars || s == text) {
			return len(runes)
		}
		return 0
	}
	at := strings.Index(s, string(runes[:edgeChars]))
	end := strings.LastIndex(s, string(runes[len(runes)-edgeChars:]))
	if at < 0 || end < at {
		return 0
	}
	behind := []rune(s[:end+len(string(runes[len(runes)-edgeChars:]))])
	return alike([]rune(s[at:]), runes, 1) + alike(behind, runes, -1)
}

// alike counts the runes that two texts share: from their beginnings on, or for
// a step of -1 from their ends back.
func alike(a, b []rune, step int) (n int) {
	for n < min(len(a), len(b)) {
		i, j := n, n
		if step < 0 {
			i, j = len(a)-1-n, len(b)-1-n
		}
		if a[i] != b[j] {
			break
		}
		n++
	}
	return n
}
