package compaction

// DueEdit is an edit of old text that could be made now.
type DueEdit struct {
	// Behind is what the provider would have to read again: the tokens of the previous build's context from the edited text on.
	Behind int64
	Gain   int64 // tokens that it frees
	Waited int32 // turns since it fell due
}

// ComingEdit is an edit that will fall due.
type ComingEdit struct {
	Behind int64
	Left   int32 // turns until then, at least 1
}

// RewriteInput is the input for deciding whether to make due edits now or later (behaviour §8).
type RewriteInput struct {
	Due    []DueEdit
	Coming []ComingEdit
	// Free is how much of the end of the previous build's context is read again anyway, because something in it changed.
	Free     int64
	View     int64 // tokens of the context as it is
	Overflow bool  // the context is over its budget
	Cold     bool  // the provider has cached nothing of it
	MinGain  int64 // tokens that due edits must free together
	MaxTurns int32 // turns that an edit waits at most
	// The prices of a token read from the provider's cache, and of one written to it.
	Read, Write float64
}

// Rewrite returns which of the due edits to make now. An edit behind text that changes anyway is free. The others are made together: when
// they free enough, when one has waited long enough, when the context overflows or is not cached, and when waiting cannot pay off. Waiting
// pays off if another edit falls due soon, so that what lies behind both is read again once instead of twice, and if that saves more than
// reading what could have been freed from the cache until then. A context smaller than MinGain is left alone: there is little to gain.
func Rewrite(in RewriteInput) []bool {
	now := make([]bool, len(in.Due))
	held := heldEdits{farthest: -1}
	for i, d := range in.Due {
		if now[i] = in.Cold || d.Behind <= in.Free; !now[i] {
			held.farthest, held.gain, held.waited = max(held.farthest, d.Behind), held.gain+d.Gain, max(held.waited, d.Waited)
		}
	}
	if held.farthest < 0 || in.waits(held) {
		return now
	}
	for i := range now {
		now[i] = true
	}
	return now
}

// heldEdits summarizes the edits that may be delayed.
type heldEdits struct {
	farthest int64 // the Behind of the foremost edit; -1 if there is none
	gain     int64
	waited   int32
}

func (in *RewriteInput) waits(h heldEdits) bool {
	switch {
	case in.Overflow || h.gain >= in.MinGain || h.waited >= in.MaxTurns:
		return false
	case in.View < in.MinGain:
		return true
	}
	for _, c := range in.Coming {
		once := (in.Write - in.Read) * float64(min(h.farthest, c.Behind))
		if h.waited+c.Left <= in.MaxTurns && once > in.Read*float64(h.gain)*float64(c.Left) {
			return true
		}
	}
	return false
}
