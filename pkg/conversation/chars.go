package conversation

// PartsChars is the length of all contents of parts, in Unicode code points.
func PartsChars(parts []Part) int64 {
	n := int64(0)
	for _, c := range Contents(parts) {
		n += c.Chars()
	}
	return n
}
