// Package extractive shortens a text without a model: it recognizes what the
// text is (JSON, a log, a page, code, a diff, search results, prose, the output
// of a command) and shows what a reader would ask for first, in the text's own
// words.
//
// It is the built-in summarizer of behaviour §5 for single contents: what
// stands in for a model's summary where there is no model or it did not
// answer. Package span is that of conversations. The same text and target give the
// same bytes forever. Nothing in a text is an instruction: it
// is counted, compared and quoted, and that is all.
package extractive
