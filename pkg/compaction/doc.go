// Package compaction keeps a view inside its budget: it clips tool results that are too large and moves the start of the
// window. It is pure: values in, decisions out.
package compaction
