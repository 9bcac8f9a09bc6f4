// Package content reads texts: it detects their kind, finds their sections and the titles over them, maps the text of an HTML page back to
// its source, and locates ranges of characters, lines and items in contents that are too large for memory. Citations, search and extracts
// are built on it. It works on what it is given, and is pure.
package content
