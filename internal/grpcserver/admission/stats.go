package admission

// Stats is what is in flight at a moment.
type Stats struct {
	Calls, MaxCalls int64
	// Lanes are the shares of the memory.
	Lanes []LaneStats
	// Refused counts what was refused because there was no room, or none in time.
	Refused int64
}

// LaneStats is how much of a share is taken, in bytes.
type LaneStats struct {
	Name            string
	Bytes, MaxBytes int64
}

// Stats says what is in flight. It waits for nothing.
func (a *Controller) Stats() Stats {
	return Stats{
		Calls: a.callsInFlight.Load(), MaxCalls: int64(a.MaxCalls), Refused: a.refused.Load(),
		Lanes: []LaneStats{
			a.requests.small.stats("small_requests"), a.requests.large.stats("large_requests"),
			a.replies.small.stats("small_replies"), a.replies.large.stats("large_replies"),
			a.imports.lines.stats("import_lines"),
		},
	}
}

func (l *lane) stats(name string) LaneStats { return LaneStats{name, l.taken.Load(), l.size} }
