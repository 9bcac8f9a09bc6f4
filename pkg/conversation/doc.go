// Package conversation is Palimpsest's vocabulary: messages and their parts, units, edits, the view, policies, decisions and
// errors. It knows no store, no wire format and no clock, and imports nothing but the standard library.
//
// A conversation is a record that only grows (messages) and a view over it. The view is folded from edits, which only grow
// too: view = fold(messages < n, edits <= seq).
package conversation
