package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// recalled is what a context still holds of what is wanted.
type recalled struct{ wanted, held int }

func (r *recalled) count(held bool) {
	r.wanted++
	if held {
		r.held++
	}
}

func (r *recalled) merge(o recalled) { r.wanted, r.held = r.wanted+o.wanted, r.held+o.held }

func (r recalled) share() float64 { return share(r.held, r.wanted) }

// holds says whether blocks hold a key, from the newest back, where it most often is. What a block holds is kept by its bytes.
func holds[S ~map[K]struct{}, K comparable](kept map[string]S, add func(S, validate.Item), blocks []validate.Block, key K) bool {
	for _, b := range slices.Backward(blocks) {
		keys, ok := kept[b.JSON]
		if !ok {
			keys = S{}
			for _, item := range b.Items {
				add(keys, item)
			}
			kept[b.JSON] = keys
		}
		if _, ok := keys[key]; ok {
			return true
		}
	}
	return false
}

// saidIn are the texts in which an item says something: of a call what it is given, without JSON's own signs.
func saidIn(item validate.Item) []string {
	switch item.Kind {
	case validate.Text, validate.Result:
		return item.Texts
	case validate.Call:
		texts := make([]string, len(item.Texts))
		for i, text := range item.Texts {
			texts[i] = leaves(text)
		}
		return texts
	default:
		return nil
	}
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
