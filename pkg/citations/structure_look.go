package citations

import "strings"

// lookBytes is how much of a content is looked at to tell its kind.
const lookBytes = 16 << 10

// look tells the kind of a content by its looks.
func look(content string) Kind {
	body := strings.TrimLeft(strings.TrimPrefix(content, "\ufeff"), jsonSpace)
	head := body[:min(len(body), lookBytes)]
	switch {
	case head == "":
		return KindText
	case head[0] == '{' || head[0] == '[':
		if isJSON(body) {
			return KindJSON
		}
	case looksHTML(head):
		return KindHTML
	}
	return KindText
}

func isJSON(text string) bool {
	var s jsonScanner
	for at := 0; at < len(text); {
		_, _, at = scanJSON(&s, text, at)
	}
	return s.whole()
}

func looksHTML(head string) bool {
	start := strings.ToLower(head[:min(len(head), 1024)])
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if strings.Contains(start, tag) {
			return true
		}
	}
	return false
}
