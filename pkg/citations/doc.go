// Package citations is how a large content is cited that stays outside of a view: what stands for it there, what it came from, and how more
// of it is retrieved. It works on text that it is given, and is pure.
package citations
