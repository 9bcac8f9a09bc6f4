// Package search finds the passages of contents, and the messages, that answer search terms, in any language and with exact locations.
// Words are compared by their stems and scored by BM25, by their order, and by the titles and text around them. It works on what it is
// given, and is pure.
package search
