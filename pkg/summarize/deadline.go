package summarize

import "time"

// Deadline is how long a request may take in all.
func (d *Desk) Deadline() time.Duration { return d.options.Deadline }
