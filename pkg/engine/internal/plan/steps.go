package plan

// The steps of an attempt: each works on the attempt itself.
type (
	// windowing finds the window that a build begins with, and what it keeps before its start.
	windowing struct{ *Attempt }
	// lifetimes applies what is past its time: additions of plugins, and what has expired.
	lifetimes struct{ *Attempt }
	// expirations makes the edits for one thing that is due.
	expirations struct{ *Attempt }
	// erasing clears old results, and erases what is due to be erased.
	erasing struct{ *Attempt }
	// compacting makes a view smaller that has outgrown its budget.
	compacting struct{ *Attempt }
	// summarizing plans summaries, and gets together what is needed to write them.
	summarizing struct{ *Attempt }
	// fitting brings a view into its budget: claims, cuts, the window's start.
	fitting struct{ *Attempt }
	// reporting says how a build stands to what was reported, and to the build before it.
	reporting struct{ *Attempt }
)

func (d *Attempt) windowing() windowing     { return windowing{d} }
func (d *Attempt) lifetimes() lifetimes     { return lifetimes{d} }
func (d *Attempt) expirations() expirations { return expirations{d} }
func (d *Attempt) erasing() erasing         { return erasing{d} }
func (d *Attempt) compacting() compacting   { return compacting{d} }
func (d *Attempt) summarizing() summarizing { return summarizing{d} }
func (d *Attempt) fitting() fitting         { return fitting{d} }
func (d *Attempt) reporting() reporting     { return reporting{d} }
