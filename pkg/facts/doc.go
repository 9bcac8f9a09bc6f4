// Package facts recognises what a text says that must not be lost unnoticed (behaviour §8): so far the sentences that are rules,
// for the facts of compaction and for extracts alike.
package facts
