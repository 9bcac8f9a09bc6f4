package extractive

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// definition is what a line of code defines, if anything.
type definition struct {
	kind  definitionKind
	name  string
	depth int
}

type definitionKind int8

const (
	definesType definitionKind = iota + 1
	definesFunction
	imports
)

// parseDefinition recognizes definitions in common languages.
func parseDefinition(line string) definition {
	s := strings.TrimLeft(line, " \t")
	d := definition{depth: indentLevel(line[:len(line)-len(s)])}
	for {
		word := facts.LeadingName(s)
		rest := strings.TrimLeft(s[len(word):], " ")
		if strings.HasPrefix(rest, "(crate)") {
			rest = strings.TrimLeft(rest[len("(crate)"):], " ")
		}
		if !isModifier(word) || rest == "" || !content.IsWord(rest[0]) {
			d.kind, d.name = classifyDefinition(word, s, rest)
			return d
		}
		s = rest
	}
}

// indentLevel returns the nesting of a line: one tab or up to four spaces are a level.
func indentLevel(space string) int {
	return strings.Count(space, "\t") + (strings.Count(space, " ")+3)/4
}

func isModifier(word string) bool {
	switch word {
	case "export", "default", "async", "public", "private", "protected", "static", "final", "abstract", "pub", "virtual", "override",
		"declare", "readonly", "inline", "extern", "internal", "sealed", "synchronized", "partial":
		return true
	}
	return false
}

// classifyDefinition returns what a line defines, given its first word after modifiers.
func classifyDefinition(word, s, rest string) (kind definitionKind, name string) {
	switch word {
	case "class", "interface", "struct", "enum", "trait", "impl", "namespace", "module", "record", "protocol", "type":
		name = facts.LeadingName(rest)
		if name != "" && (word != "type" || strings.ContainsAny(rest, "={")) {
			return definesType, name
		}
	case "def", "function", "fn", "sub", "proc":
		if name = facts.LeadingName(rest); name != "" && len(rest) > len(name) {
			return definesFunction, name
		}
	case "func":
		return goFunction(rest)
	case "import", "from", "use", "using", "require", "include":
		if rest != "" && (word != "from" || strings.Contains(rest, " import")) {
			return imports, ""
		}
	case "const", "let", "var":
		name = facts.LeadingName(rest)
		if strings.Contains(rest, "=> {") || strings.Contains(rest, "= function") {
			return definesFunction, name
		}
		return 0, ""
	}
	if strings.HasPrefix(s, "#include") || strings.HasPrefix(s, "#define") {
		return imports, ""
	}
	return bracedFunction(word, s)
}

// goFunction recognizes a Go function after its keyword, with or without a receiver.
func goFunction(rest string) (kind definitionKind, name string) {
	if strings.HasPrefix(rest, "(") {
		if end := strings.Index(rest, ") "); end > 0 {
			rest = rest[end+2:]
		}
	}
	if name = facts.LeadingName(rest); name != "" && strings.HasPrefix(rest[len(name):], "(") {
		return definesFunction, name
	}
	return 0, ""
}

// bracedFunction recognizes a function without a keyword: words, parameters, then the brace that opens its body.
func bracedFunction(word, s string) (kind definitionKind, name string) {
	open := strings.IndexByte(s, '(')
	if open < 1 || !strings.HasSuffix(s, "{") || isControlKeyword(word) || strings.ContainsAny(s[:open], "=.;\"'!&|+?:[]{}") {
		return 0, ""
	}
	start := open
	for start > 0 && content.IsWord(s[start-1]) {
		start--
	}
	if start == open || isControlKeyword(s[start:open]) {
		return 0, ""
	}
	return definesFunction, s[start:open]
}

func isControlKeyword(word string) bool {
	switch word {
	case "", "if", "for", "while", "switch", "catch", "else", "try", "do", "return", "with", "match", "func", "new", "await", "throw",
		"case", "select", "go", "defer", "until", "unless", "foreach", "lock", "using", "elif":
		return true
	}
	return false
}
