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

// Unpaired counts the calls that nothing beside them answers, and the results
// that answer no call of their unit. A result that came behind other messages
// stands beside its call, if that is shown and no build had shown it without.
func (h *History) Unpaired() (calls, results int) {
	left := h.pairs(func(call, result int) {
		if call < h.begins[result] {
			results++
			if !h.stands(call, result) {
				calls++
			}
		}
	}, func(int) { results++ })
	return calls + left, results
}

// Beside returns for each message with results that came behind other messages,
// and stand beside their calls, the messages of these.
func (h *History) Beside() map[int][]int {
	out := map[int][]int{}
	h.pairs(func(call, result int) {
		if call < h.begins[result] && h.stands(call, result) {
			out[result] = append(out[result], call)
		}
	}, func(int) {})
	return out
}

// pairs calls pair for every result with the message of its call, and orphan for
// one without; it returns how many calls are left.
func (h *History) pairs(pair func(call, result int), orphan func(result int)) (left int) {
	var open []openCall
	for i := range h.messages {
		for _, item := range h.messages[i].Items {
			if item.Kind == Call {
				open = append(open, openCall{id: item.ID, message: i})
			}
			if item.Kind != Result {
				continue
			}
			at := h.answered(open, item.ID, i)
			if at < 0 {
				orphan(i)
				continue
			}
			pair(open[at].message, i)
			open = slices.Delete(open, at, at+1)
		}
	}
	return len(open)
}

// openCall is a call without a result so far.
type openCall struct {
	id      string
	message int
}

// answered is the call that a result of a message answers: the first of its
// unit with the id, or the newest before that; -1 if there is none.
func (h *History) answered(open []openCall, id string, message int) int {
	newest := -1
	for i, c := range open {
		if c.id != id {
			continue
		}
		if c.message >= h.begins[message] {
			return i
		}
		newest = i
	}
	return newest
}

// stands says whether a result of a later unit stands beside its call.
func (h *History) stands(call, result int) bool {
	return call >= h.builtAt[result] && !h.messages[call].Aborted
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
