package citations

// jsonEvent is something in a JSON text that those who look for values care about.
type jsonEvent uint8

const (
	jsonPiece  jsonEvent = iota // the piece has ended
	jsonKey                     // a member of an object begins, with its key
	jsonScalar                  // a value that holds no others begins
	jsonOpen                    // an array or an object begins
	jsonClose                   // an array or an object has ended
	jsonComma                   // a comma between two of the same array or object
)

// jsonState is what a scanner is in the middle of.
type jsonState uint8

const (
	atValue jsonState = iota
	atFirstItem
	atFirstKey
	atKey
	atColon
	afterValue
	inString
	inEscape
	inHex
	inWord
	atSign // of a number: a digit must follow
	inZero
	inInteger
	atFraction
	inFraction
	atExponent
	atExponentDigit
	inExponent
	atEnd
	broken
)

// maxJSONDepth is how deep encoding/json goes: what is deeper is no JSON for it.
const maxJSONDepth = 10_000

// jsonScanner tells whether a text is JSON, in the sense of encoding/json, and where its values are. It takes the text in pieces, cut
// anywhere, and is several times as fast as a decoder.
type jsonScanner struct {
	state jsonState
	key   bool   // the string that it is in is a key
	left  uint8  // hexadecimal digits that are still to come
	word  string // what is still to come of true, false or null
	open  []byte // the brackets that are open
}

// depth is how many arrays and objects are open.
func (s *jsonScanner) depth() int { return len(s.open) }

// inArray says whether the innermost that is open is an array.
func (s *jsonScanner) inArray() bool { return len(s.open) > 0 && s.open[len(s.open)-1] == '[' }

// whole says whether what has been scanned is one JSON value.
func (s *jsonScanner) whole() bool {
	if len(s.open) > 0 {
		return false
	}
	switch s.state {
	case atEnd, inZero, inInteger, inFraction, inExponent:
		return true
	default:
		return false
	}
}

// scanJSON goes on at piece[at] to the next event, and tells where that is and where to go on. Once the text is broken, no more come.
func scanJSON[T string | []byte](s *jsonScanner, piece T, at int) (event jsonEvent, where, next int) {
	for at < len(piece) {
		if s.state == inString {
			for at < len(piece) && piece[at] >= ' ' && piece[at] != '"' && piece[at] != '\\' {
				at++
			}
			if at < len(piece) {
				s.special(piece[at])
				at++
			}
			continue
		}
		c := piece[at]
		if c == ' ' && s.state <= afterValue { // indentation is a good part of many documents
			at++
			continue
		}
		if event = s.step(c); event != jsonPiece {
			return event, at, at + 1
		}
		if s.state == broken {
			return jsonPiece, len(piece), len(piece)
		}
		at++
	}
	return jsonPiece, at, at
}

// special takes a character that is more than a part of a string.
func (s *jsonScanner) special(c byte) {
	switch {
	case c == '\\':
		s.state = inEscape
	case c != '"':
		s.state = broken
	case s.key:
		s.state = atColon
	default:
		s.after()
	}
}

// after is what may follow a value.
func (s *jsonScanner) after() {
	s.state = afterValue
	if len(s.open) == 0 {
		s.state = atEnd
	}
}

// jsonSpace is the space of JSON; and what is trimmed where lines are cut.
const jsonSpace = " \n\r\t"

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// step takes a character outside of strings.
func (s *jsonScanner) step(c byte) jsonEvent {
	if s.state <= afterValue || s.state == atEnd {
		if isJSONSpace(c) {
			return jsonPiece
		}
	}
	switch s.state {
	case atValue, atFirstItem:
		return s.value(c)
	case atFirstKey, atKey:
		return s.memberKey(c)
	case atColon:
		s.state = s.expect(c == ':', atValue)
	case afterValue:
		return s.next(c)
	case inEscape:
		s.escape(c)
	case inHex:
		s.hex(c)
	case inWord:
		s.letter(c)
	case atEnd, broken:
		s.state = broken
	default:
		return s.number(c)
	}
	return jsonPiece
}

func (s *jsonScanner) expect(ok bool, then jsonState) jsonState {
	if ok {
		return then
	}
	return broken
}

// value takes the first character of a value, or the end of an empty array.
func (s *jsonScanner) value(c byte) jsonEvent {
	switch {
	case c == '{' || c == '[':
		return s.push(c)
	case c == ']' && s.state == atFirstItem:
		return s.pop()
	case c == '"':
		s.state, s.key = inString, false
	case c == '-':
		s.state = atSign
	case c == '0':
		s.state = inZero
	case isDigit(c):
		s.state = inInteger
	default:
		return s.begin(c)
	}
	return jsonScalar
}

// begin takes the first letter of a word.
func (s *jsonScanner) begin(c byte) jsonEvent {
	for _, word := range [...]string{"true", "false", "null"} {
		if c == word[0] {
			s.state, s.word = inWord, word[1:]
			return jsonScalar
		}
	}
	s.state = broken
	return jsonPiece
}

func (s *jsonScanner) push(c byte) jsonEvent {
	if len(s.open) == maxJSONDepth {
		s.state = broken
		return jsonPiece
	}
	s.open = append(s.open, c)
	s.state = atFirstItem
	if c == '{' {
		s.state = atFirstKey
	}
	return jsonOpen
}

func (s *jsonScanner) pop() jsonEvent {
	s.open = s.open[:len(s.open)-1]
	s.after()
	return jsonClose
}

func (s *jsonScanner) memberKey(c byte) jsonEvent {
	switch {
	case c == '"':
		s.state, s.key = inString, true
		return jsonKey
	case c == '}' && s.state == atFirstKey:
		return s.pop()
	}
	s.state = broken
	return jsonPiece
}

// next takes what follows a value inside of an array or object.
func (s *jsonScanner) next(c byte) jsonEvent {
	array := s.inArray()
	switch {
	case c == ',' && array:
		s.state = atValue
		return jsonComma
	case c == ',':
		s.state = atKey
		return jsonComma
	case c == ']' && array, c == '}' && !array:
		return s.pop()
	}
	s.state = broken
	return jsonPiece
}

func (s *jsonScanner) escape(c byte) {
	switch c {
	case 'u':
		s.state, s.left = inHex, 4
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.state = inString
	default:
		s.state = broken
	}
}

func (s *jsonScanner) hex(c byte) {
	lower := c | 0x20
	if !isDigit(c) && (lower < 'a' || lower > 'f') {
		s.state = broken
		return
	}
	if s.left--; s.left == 0 {
		s.state = inString
	}
}

// letter takes one more letter of a word.
func (s *jsonScanner) letter(c byte) {
	if c != s.word[0] {
		s.state = broken
		return
	}
	if s.word = s.word[1:]; s.word == "" {
		s.after()
	}
}

// number takes a character of a number, or the first one after it.
func (s *jsonScanner) number(c byte) jsonEvent {
	was := s.state
	switch s.state {
	case atSign:
		s.state = s.expect(isDigit(c), inInteger)
		if c == '0' {
			s.state = inZero
		}
	case atFraction:
		s.state = s.expect(isDigit(c), inFraction)
	case atExponent:
		s.state = s.expect(isDigit(c) || c == '+' || c == '-', inExponent)
		if c == '+' || c == '-' {
			s.state = atExponentDigit
		}
	case atExponentDigit:
		s.state = s.expect(isDigit(c), inExponent)
	default:
		return s.digit(was, c)
	}
	return jsonPiece
}

// digit takes a character where a number may end.
func (s *jsonScanner) digit(was jsonState, c byte) jsonEvent {
	switch {
	case isDigit(c) && was != inZero:
	case c == '.' && (was == inZero || was == inInteger):
		s.state = atFraction
	case (c == 'e' || c == 'E') && was != inExponent:
		s.state = atExponent
	default:
		s.after()
		return s.step(c)
	}
	return jsonPiece
}
