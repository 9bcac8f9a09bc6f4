// Package compaction keeps a view within its budget: it clips tool results that are too large, decides where a summary ends and which
// summaries are merged, lists what a summary would lose, and moves the start of the window. It is pure: values in, decisions out.
package compaction
