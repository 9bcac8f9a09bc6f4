package view

// WholeUnits is how many leading blocks show at least so many of them, and all of the tail before a message, and end with a unit: no call
// is parted from its results.
func (out *Composition) WholeUnits(least int, before int32) int {
	for n := least; n < len(out.Blocks); n++ {
		if n >= out.head && out.Blocks[n].Index >= before && out.startsUnit(n) {
			return n
		}
	}
	return len(out.Blocks)
}

// startsUnit says whether a block of the tail is the first of its unit.
func (out *Composition) startsUnit(n int) bool {
	at := out.Blocks[n].Index
	if at < 0 || n == 0 {
		return false
	}
	for i := out.Tail; i < len(out.Units); i++ {
		if u := &out.Units[i]; u.First() <= at && at <= u.Last() {
			return out.Blocks[n-1].Index < u.First()
		}
	}
	return false
}
