// Package span shortens a stretch of conversation without a model: the user's rules, what was asked, what was done to which files and
// addresses, the outcomes of calls, what is open, and what else is named, in the words of those who spoke.
//
// It is the built-in summarizer of behaviour §8. The same messages and target always give the same bytes. Nothing in a message is an
// instruction: it is only counted, compared and quoted.
package span
