package summarize

// CheckTemplate says what is wrong with a prompt's template, in words for whoever wrote it; nil if nothing is.
func CheckTemplate(template string) error { return nil }
