package conversation

import "slices"

// standBeside moves results that came behind other messages into the units of the calls that they answer, if both are shown. If the call is
// not shown, such a result stays where it came.
func standBeside(units []Unit, shown func(*Unit) bool) []Unit {
	if !slices.ContainsFunc(units, func(u Unit) bool { return slices.ContainsFunc(u.Items, joins) }) {
		return units
	}
	hosts := callUnits(units, shown)
	out, moved := make([]Unit, 0, len(units)), map[int][]Item{}
	place := make([]int, 0, len(units)) // for each unit of out, its index among units
	for i := range units {
		left := Unit{Summary: units[i].Summary}
		for j := range units[i].Items {
			it := &units[i].Items[j]
			if !joins(*it) {
				left.Items = append(left.Items, *it)
				continue
			}
			own := i
			if alone := (Unit{Items: []Item{*it}}); !shown(&units[i]) {
				if !shown(&alone) { // treat it as if it had not been loaded
					continue
				}
				own = -1
			}
			for _, p := range it.splitByUnit(own, hosts) {
				switch p.unit {
				case i:
					left.Items = append(left.Items, p.item)
				case -1:
					out, place = append(out, Unit{Items: []Item{p.item}}), append(place, -1)
				default:
					moved[p.unit] = append(moved[p.unit], p.item)
				}
			}
		}
		if len(left.Items) > 0 {
			out, place = append(out, left), append(place, i)
		}
	}
	for n, i := range place {
		if i >= 0 {
			out[n].Items = append(out[n].Items, moved[i]...)
		}
	}
	return out
}

// joins reports whether an item has a result that is shown next to its call.
func joins(it Item) bool {
	return it.Message.Role == RoleTool && slices.ContainsFunc(it.Message.Parts, func(p Part) bool { return p.Result != nil && p.Result.Joins })
}

// callUnits maps the ordinals of calls to the indices of their units, for units that are shown.
func callUnits(units []Unit, shown func(*Unit) bool) map[int32]int {
	out := map[int32]int{}
	for i := range units {
		if !shown(&units[i]) {
			continue
		}
		for _, it := range units[i].Items {
			for p := range it.Parts {
				if c := it.Parts[p].Call; c != nil && it.Message.Role == RoleAssistant {
					out[c.Ordinal] = i
				}
			}
		}
	}
	return out
}

// piece is the part of an item that stands in one unit.
type piece struct {
	unit int
	item Item
}

// splitByUnit splits an item by the units in which its parts stand: results with their calls, all others in the item's own unit.
func (it *Item) splitByUnit(own int, hosts map[int32]int) []piece {
	at, units := make([]int, len(it.Parts)), []int(nil)
	for i := range it.Parts {
		at[i] = own
		if host, ok := hosts[it.joinedCall(i)]; ok {
			at[i] = host
		}
		if !slices.Contains(units, at[i]) {
			units = append(units, at[i])
		}
	}
	if len(units) < 2 {
		out := *it
		out.Beside = len(units) == 1 && units[0] != own
		return []piece{{append(units, own)[0], out}}
	}
	out := make([]piece, 0, len(units))
	for _, unit := range units {
		p := *it
		p.Parts, p.Positions, p.Copies, p.Of, p.Beside = nil, nil, nil, it, unit != own
		for i := range it.Parts {
			if at[i] == unit {
				p.Parts, p.Positions = append(p.Parts, it.Parts[i]), append(p.Positions, it.Position(i))
			}
		}
		for _, c := range it.Copies {
			if slices.Contains(p.Positions, c.Of) {
				p.Copies = append(p.Copies, c)
			}
		}
		out = append(out, piece{unit, p})
	}
	return out
}

// joinedCall returns the ordinal of the call that a shown part joins; -1 if it joins none.
func (it *Item) joinedCall(shown int) int32 {
	if at := it.Position(shown); at >= 0 {
		if r := it.Message.Parts[at].Result; r != nil && r.Joins {
			return r.Ordinal
		}
	}
	return -1
}
