// Package recall says what messages hold that a later one may take up: references, and runs of their words.
package recall

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// Holds says whether blocks hold a key, from the newest back, where it most often is. What a block holds is kept by its bytes.
func Holds[S ~map[K]struct{}, K comparable](kept map[string]S, of func([]validate.Item) S, blocks []validate.Block, key K) bool {
	for _, b := range slices.Backward(blocks) {
		keys, ok := kept[b.JSON]
		if !ok {
			keys = of(b.Items)
			kept[b.JSON] = keys
		}
		if _, ok := keys[key]; ok {
			return true
		}
	}
	return false
}

// saidIn are the texts in which items say something: of a call what it is given, without JSON's own signs.
func saidIn(items []validate.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, item := range items {
			for _, text := range item.Texts {
				switch item.Kind {
				case validate.Call:
					text = Leaves(text)
				case validate.Text, validate.Result:
				default:
					continue
				}
				if !yield(text) {
					return
				}
			}
		}
	}
}

// Leaves returns the keys and values of JSON, one a line; what is no JSON as it
// stands.
func Leaves(text string) string {
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
