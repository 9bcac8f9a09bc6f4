// Package summaries holds the engine, with the desk and the client that ship, to its promises whatever a summariser does: answer
// late, never, wrongly or with malice, or well while many ask at a time.
package summaries
