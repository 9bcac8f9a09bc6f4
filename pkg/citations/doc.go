// Package citations produces the short citation that stands in a view for a large content kept outside of it: what the content is, where it
// came from, and how to retrieve more of it. It works on text that it is given, and is pure.
package citations
