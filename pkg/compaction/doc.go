// Package compaction keeps a view inside its budget: it clips tool results that are too large, says where a summary ends and which
// summaries become one, lists what a summary would lose, and moves the start of the window. It is pure: values in, decisions
// out.
package compaction
