// Package choice selects what an extract shows: it scores the units of a text by their words and by what others have said already, and
// packs entries into the available room.
package choice
