package plan

// protectedTurns is for how long what was expanded is kept from giving way to the rest of the view (behaviour §10).
const protectedTurns = 5

// isProtected says whether a unit was brought back lately enough to stay in view wherever the window starts.
func (d fitting) isProtected(index int32) bool {
	edit, turn, ok := d.View.Restored(index)
	return ok && edit > d.Composed.Window.Restored && d.Turn-turn <= protectedTurns
}

// lastLapsed is the last edit whose restoration keeps a unit in view no longer, once a window's start moves.
func (d fitting) lastLapsed(before int64) int64 {
	return max(before, d.View.LastRestored(d.Turn-protectedTurns-1))
}

// lapses says whether a message before the window is shown because it was brought back, and no longer once the window's start moves.
func (d fitting) lapses(index int32) bool {
	edit, _, ok := d.View.Restored(index)
	return ok && edit > d.Composed.Window.Restored && !d.isProtected(index)
}

// expandedRecently says whether a message was brought back so short a while ago that neither pruning nor a summary takes it away.
func (d *Attempt) expandedRecently(index int32) bool {
	_, turn, ok := d.View.Restored(index)
	return ok && d.Turn-turn <= protectedTurns
}
