package replay

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// minReference is the length in characters from which a word is a reference.
const minReference = 6

// references is a set of references: paths, ids, names in code.
type references map[string]struct{}

// add takes the references of an item in.
func (w references) add(item validate.Item) {
	switch item.Kind {
	case validate.Call:
		for _, text := range item.Texts {
			w.scan(leaves(text))
		}
	case validate.Text, validate.Result:
		for _, text := range item.Texts {
			w.scan(text)
		}
	}
}

// scan takes the references of a text in. A backslash begins an escape, as in
// JSON inside a text, and ends a word.
func (w references) scan(text string) {
	start := -1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if inWord(r) {
			if start < 0 {
				start = i
			}
			i += size
			continue
		}
		w.take(text, start, i)
		start = -1
		i += size
		if r == '\\' && i < len(text) && strings.IndexByte(`ntr"/`, text[i]) >= 0 {
			i++
		}
	}
	w.take(text, start, len(text))
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '/' || r == '.' || r == '-'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (w references) take(text string, start, end int) {
	if start < 0 {
		return
	}
	word := strings.TrimRight(strings.TrimLeft(text[start:end], ".-"), ".-/")
	if isReference(word) {
		w[word] = struct{}{}
	}
}

// isReference: six characters or more, with a digit, '/', '_' or an inner dot.
func isReference(word string) bool {
	return utf8.RuneCountInString(word) >= minReference && strings.ContainsAny(word, "0123456789/_.")
}

// leaves returns the keys and values of JSON, one a line; what is no JSON as it
// stands.
func leaves(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var b strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch v := token.(type) {
		case string:
			b.WriteString(v)
		case json.Number:
			b.WriteString(v.String())
		}
		b.WriteByte('\n')
	}
	if decoder.InputOffset() < int64(len(strings.TrimRight(text, " \n\r\t"))) {
		return text
	}
	return b.String()
}

// recall measures how many of the next message's references, of those that the
// conversation had already made, the context still holds.
func (c *conversation) recall(next *pb.Message, blocks []validate.Block) {
	wanted := references{}
	for _, item := range messageOf(next).Items {
		wanted.add(item)
	}
	for word := range wanted {
		if _, ok := c.said[word]; !ok {
			continue
		}
		c.references++
		if c.shown(word, blocks) {
			c.recalled++
		}
	}
}

// shown looks a word up from the newest block back, where it most often is.
func (c *conversation) shown(word string, blocks []validate.Block) bool {
	for i := len(blocks) - 1; i >= 0; i-- {
		if _, ok := c.wordsOf(&blocks[i])[word]; ok {
			return true
		}
	}
	return false
}

func (c *conversation) wordsOf(b *validate.Block) references {
	if w, ok := c.words[b.JSON]; ok {
		return w
	}
	w := references{}
	for _, item := range b.Items {
		w.add(item)
	}
	c.words[b.JSON] = w
	return w
}
