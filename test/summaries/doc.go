// Package summaries holds the engine, with the service and the client that ship, to its promises whatever a summarizer does: answer
// late, never, wrongly or with malice, or well while many ask at a time.
package summaries
