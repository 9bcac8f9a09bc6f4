package content

import "iter"

// JSONEvent is a position of interest in a JSON text.
type JSONEvent uint8

// The events.
const (
	noEvent    JSONEvent = iota
	JSONKey              // a member of an object begins, with its key
	JSONScalar           // a value that holds no others begins
	JSONOpen             // an array or an object begins
	JSONClose            // an array or an object has ended
	JSONComma            // a comma between two of the same array or object
)

// jsonState is the state of a scanner.
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

// takesDigits reports whether a digit changes nothing.
func (s jsonState) takesDigits() bool { return s == inInteger || s == inFraction || s == inExponent }

// maxJSONDepth is the nesting limit of encoding/json.
const maxJSONDepth = 10_000

// JSONScanner checks whether a text is JSON as encoding/json understands it, and finds its values. It takes the text in chunks, split
// anywhere, and is several times as fast as a decoder.
type JSONScanner struct {
	state    jsonState
	key      bool   // the current string is a key
	hexLeft  uint8  // hexadecimal digits still expected
	wordLeft string // the rest of true, false or null
	brackets []byte // the open brackets
}

// Depth returns how many arrays and objects are open.
func (s *JSONScanner) Depth() int { return len(s.brackets) }

// inArray reports whether the innermost open value is an array.
func (s *JSONScanner) inArray() bool {
	return len(s.brackets) > 0 && s.brackets[len(s.brackets)-1] == '['
}

// IsComplete reports whether the text so far is one JSON value.
func (s *JSONScanner) IsComplete() bool {
	if len(s.brackets) > 0 {
		return false
	}
	switch s.state {
	case atEnd, inZero, inInteger, inFraction, inExponent:
		return true
	default:
		return false
	}
}

// Failed reports whether the text so far cannot begin a JSON value.
func (s *JSONScanner) Failed() bool { return s.state == broken }

// JSONEvents continues with a chunk, and yields its events and their positions in it. After a syntax error there are no more.
func JSONEvents[T string | []byte](s *JSONScanner, chunk T) iter.Seq2[JSONEvent, int] {
	return func(yield func(JSONEvent, int) bool) {
		for at := 0; at < len(chunk); at++ {
			var event JSONEvent
			if event, at = nextJSONEvent(s, chunk, at); event == noEvent || !yield(event, at) {
				return
			}
		}
	}
}

// nextJSONEvent continues at chunk[at] up to the next event, and returns its position; none at the end of the chunk.
func nextJSONEvent[T string | []byte](s *JSONScanner, chunk T, at int) (event JSONEvent, where int) {
	for at < len(chunk) {
		if s.state == inString {
			for at < len(chunk) && chunk[at] >= ' ' && chunk[at] != '"' && chunk[at] != '\\' {
				at++
			}
			if at < len(chunk) {
				s.stringSpecial(chunk[at])
				at++
			}
			continue
		}
		c := chunk[at]
		if c == ' ' && s.state <= afterValue || IsDigit(c) && s.state.takesDigits() { // a good part of many documents
			at++
			continue
		}
		if event = s.step(c); event != noEvent || s.state == broken {
			return event, at
		}
		at++
	}
	return noEvent, at
}

// stringSpecial handles a character that ends or escapes within a string.
func (s *JSONScanner) stringSpecial(c byte) {
	switch {
	case c == '\\':
		s.state = inEscape
	case c != '"':
		s.state = broken
	case s.key:
		s.state = atColon
	default:
		s.afterValue()
	}
}

// afterValue moves to the state after a value.
func (s *JSONScanner) afterValue() {
	s.state = afterValue
	if len(s.brackets) == 0 {
		s.state = atEnd
	}
}

// step handles a character outside of strings.
func (s *JSONScanner) step(c byte) JSONEvent {
	if s.state <= afterValue || s.state == atEnd {
		if isJSONSpace(c) {
			return noEvent
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
		return s.afterItem(c)
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
	return noEvent
}

func (s *JSONScanner) expect(ok bool, then jsonState) jsonState {
	if ok {
		return then
	}
	return broken
}

// value handles the first character of a value, or the end of an empty array.
func (s *JSONScanner) value(c byte) JSONEvent {
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
	case IsDigit(c):
		s.state = inInteger
	default:
		return s.beginWord(c)
	}
	return JSONScalar
}

// beginWord handles the first letter of true, false or null.
func (s *JSONScanner) beginWord(c byte) JSONEvent {
	for _, word := range [...]string{"true", "false", "null"} {
		if c == word[0] {
			s.state, s.wordLeft = inWord, word[1:]
			return JSONScalar
		}
	}
	s.state = broken
	return noEvent
}

func (s *JSONScanner) push(c byte) JSONEvent {
	if len(s.brackets) == maxJSONDepth {
		s.state = broken
		return noEvent
	}
	s.brackets = append(s.brackets, c)
	s.state = atFirstItem
	if c == '{' {
		s.state = atFirstKey
	}
	return JSONOpen
}

func (s *JSONScanner) pop() JSONEvent {
	s.brackets = s.brackets[:len(s.brackets)-1]
	s.afterValue()
	return JSONClose
}

func (s *JSONScanner) memberKey(c byte) JSONEvent {
	switch {
	case c == '"':
		s.state, s.key = inString, true
		return JSONKey
	case c == '}' && s.state == atFirstKey:
		return s.pop()
	}
	s.state = broken
	return noEvent
}

// afterItem handles what follows a value in an array or object.
func (s *JSONScanner) afterItem(c byte) JSONEvent {
	array := s.inArray()
	switch {
	case c == ',' && array:
		s.state = atValue
		return JSONComma
	case c == ',':
		s.state = atKey
		return JSONComma
	case c == ']' && array, c == '}' && !array:
		return s.pop()
	}
	s.state = broken
	return noEvent
}

func (s *JSONScanner) escape(c byte) {
	switch c {
	case 'u':
		s.state, s.hexLeft = inHex, 4
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.state = inString
	default:
		s.state = broken
	}
}

func (s *JSONScanner) hex(c byte) {
	lower := c | 0x20
	if !IsDigit(c) && (lower < 'a' || lower > 'f') {
		s.state = broken
		return
	}
	if s.hexLeft--; s.hexLeft == 0 {
		s.state = inString
	}
}

// letter handles another letter of true, false or null.
func (s *JSONScanner) letter(c byte) {
	if c != s.wordLeft[0] {
		s.state = broken
		return
	}
	if s.wordLeft = s.wordLeft[1:]; s.wordLeft == "" {
		s.afterValue()
	}
}

// number handles a character of a number, or the first one after it.
func (s *JSONScanner) number(c byte) JSONEvent {
	was := s.state
	switch s.state {
	case atSign:
		s.state = s.expect(IsDigit(c), inInteger)
		if c == '0' {
			s.state = inZero
		}
	case atFraction:
		s.state = s.expect(IsDigit(c), inFraction)
	case atExponent:
		s.state = s.expect(IsDigit(c) || c == '+' || c == '-', inExponent)
		if c == '+' || c == '-' {
			s.state = atExponentDigit
		}
	case atExponentDigit:
		s.state = s.expect(IsDigit(c), inExponent)
	default:
		return s.digit(was, c)
	}
	return noEvent
}

// digit handles a character where a number may end.
func (s *JSONScanner) digit(was jsonState, c byte) JSONEvent {
	switch {
	case IsDigit(c) && was != inZero:
	case c == '.' && (was == inZero || was == inInteger):
		s.state = atFraction
	case (c == 'e' || c == 'E') && was != inExponent:
		s.state = atExponent
	default:
		s.afterValue()
		return s.step(c)
	}
	return noEvent
}
