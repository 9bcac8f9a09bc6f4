// Package search finds which passages of contents, and which messages, answer search terms, in any language and with true locations. Words
// are compared by their stems and scored by BM25, by how they follow each other, and by what stands over and around them. It works on
// what it is given, and is pure.
package search
