package compaction

// CutInput is the input for the position of a cut.
type CutInput struct {
	// Units are the units of the tail that a summary may take, oldest first, and the newest units.
	Units []TailUnit
	Keep  int32 // newest messages that are left alone, at most
	Tail  int64 // tokens that these may weigh at most
	// Returns are what units gain if something they need is summarized.
	Returns []Return
}

// userWithin is how many messages a cut moves at most to reach a user message.
const userWithin = 5

// Cut returns where a compaction cuts (behaviour §8): the index of the first piece that stays; 0 if there is nothing to summarize. The
// newest units stay: at most Keep messages of at most Tail tokens, but always the newest unit. If a user message begins a unit within 5
// messages of that cut, the cut moves to the nearest one, preferring the earlier of two: back as long as what stays weighs at most Tail,
// forward as long as the newest unit stays. It never moves back so far that nothing is left to summarize.
func Cut(in CutInput) int {
	gains := returned(in.Units, in.Returns)
	cut, tokens := in.newest(gains)
	if cut == 0 {
		return 0
	}
	earlier, back := in.earlier(cut, tokens, gains)
	later, on := in.later(cut)
	switch {
	case min(back, on) > userWithin:
		return cut
	case back <= on:
		return earlier
	default:
		return later
	}
}

// newest finds the first of the newest pieces that stay, and their weight without what they gain.
func (in *CutInput) newest(gains []int64) (cut int, tokens int64) {
	cut = len(in.Units)
	for messages := int32(0); cut > 0; cut-- {
		p := &in.Units[cut-1]
		if messages += p.Messages; cut < len(in.Units) && (messages > in.Keep || tokens+p.Tokens+gains[cut-1] > in.Tail) {
			break
		}
		tokens += p.Tokens
	}
	return cut, tokens
}

// earlier finds the nearest user message before a cut, and its distance in messages.
func (in *CutInput) earlier(cut int, tokens int64, gains []int64) (at int, back int32) {
	for at = cut - 1; at > 0 && back <= userWithin; at-- {
		p := &in.Units[at]
		back += p.Messages
		if tokens += p.Tokens; tokens+gains[at] > in.Tail {
			break
		}
		if p.User {
			return at, back
		}
	}
	return 0, userWithin + 1
}

// later finds the nearest user message at or after a cut, and its distance in messages.
func (in *CutInput) later(cut int) (at int, on int32) {
	for at = cut; at < len(in.Units) && on <= userWithin; at++ {
		p := &in.Units[at]
		if p.User {
			return at, on
		}
		on += p.Messages
	}
	return 0, userWithin + 1
}

// Shrinks reports whether a view became smaller by at least percent percent. One that did not become smaller never did.
func Shrinks(before, after, percent int64) bool {
	return after < before && after*100 <= before*(100-percent)
}
