// Package facts recognizes what a text says that must not be lost silently (behaviour §8): sentences that are rules; machine-readable names
// such as paths, addresses, ids, numbers and errors; and how severe a line is. Loss lists are made of it, and extracts use it to choose
// lines.
package facts
