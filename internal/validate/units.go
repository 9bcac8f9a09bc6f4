package validate

import "slices"

// Unit returns where the unit of a message begins, and where the next one does.
func (h *History) Unit(message int) (first, end int) {
	first = h.begins[message]
	for end = message + 1; end < len(h.begins) && h.begins[end] == first; {
		end++
	}
	return first, end
}

// Unpaired counts the calls that no result of their unit answers, and the
// results that answer no call of their unit.
func (h *History) Unpaired() (calls, results int) {
	for _, unit := range h.Units() {
		var open []string
		for i := range unit {
			for _, item := range unit[i].Items {
				switch at := slices.Index(open, item.ID); {
				case item.Kind == Call:
					open = append(open, item.ID)
				case item.Kind == Result && at < 0:
					results++
				case item.Kind == Result:
					open = slices.Delete(open, at, at+1)
				}
			}
		}
		calls += len(open)
	}
	return calls, results
}

// Merged is what the frames of the assistant's messages weigh that belong to the
// unit of another one: a rendering may write them as one message.
func (h *History) Merged() (tokens int) {
	for i := range h.messages {
		if h.messages[i].Role == "assistant" && h.begins[i] != i {
			tokens += perMessage
		}
	}
	return tokens
}

// Opener is what the fixed messages weigh at most that a provider wants first
// and last.
func Opener() int { return openerTokens }

// Cut is the least that a message of one text may weigh of which so many
// characters are shown, head and tail, with the words that say so.
func Cut(text string, chars int, count Counter) int {
	runes := []rune(text)
	if len(runes) <= chars {
		return perMessage + count(text)
	}
	return perMessage + noteTokens + count(string(runes[:chars/2])) + count(string(runes[len(runes)-chars+chars/2:]))
}
