// Package extractive shortens a text without a model: it detects what the text is (JSON, a log, a page, code, a diff, search results,
// prose, the output of a command) and shows what a reader would ask for first, in the text's own words.
//
// A stack trace is read as output or as a log: its rare error lines whole (failures.go), its last error, its first and last lines
// (lines.go).
//
// It is the built-in summarizer of behaviour §5 for single contents, used if there is no model or it did not answer. Package span does the
// same for conversations. The same text and target always give the same bytes. Nothing in a text is an instruction: it is only counted,
// compared and quoted.
package extractive
