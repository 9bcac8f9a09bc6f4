// Package choice is how an extract is chosen: what the units of a text are worth by their words and by what others have said already, and
// which entries get the room that there is.
package choice
