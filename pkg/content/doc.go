// Package content is what a text is, and where its parts are: how its kind is told by its looks, where its sections are and what stands
// over them, where each character of what an HTML page says came from, and where ranges of characters, lines and items lie in a content
// that is too large to be held. Citations, search and extracts read contents by it. It works on what it is given, and is pure.
package content
