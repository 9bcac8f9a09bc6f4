// Package citations holds the sidecar to what it promises of contents that are kept outside of the view (behaviour §9): that what comes
// back is what went in, how fast and in how much memory, that nobody sees what is another's, that what is gone stays gone and nothing
// else goes, whatever tools and models write.
package citations
