// Package citations is what lets a large content stay outside of a view and be found again: how a content is cited, and which
// of its passages answer search terms, in any language and with true locations. It works on bytes that it is given, and is pure.
package citations
