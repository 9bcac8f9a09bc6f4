package sheet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Object prints a message of the API as one line of JSON.
func (s *Sheet) Object(m proto.Message) error {
	line, err := CompactJSON(m)
	if err != nil {
		return err
	}
	return s.RawObject(line)
}

// RawObject prints JSON in one line. What must not reach a terminal is escaped, which changes no value.
func (s *Sheet) RawObject(line []byte) error {
	_, err := s.Out.Write(append(escaped(line, s.ASCII), '\n'))
	return err
}

// CompactJSON is JSON without the spaces that protojson puts in, which differ from build to build.
func CompactJSON(m proto.Message) (json.RawMessage, error) {
	loose, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, loose)
	return b.Bytes(), err
}

// escaped writes characters of JSON as \u where they must not reach a terminal, or are not ASCII and should be. In JSON such
// characters stand in texts alone.
func escaped(line []byte, ascii bool) []byte {
	out := make([]byte, 0, len(line)+1)
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		switch {
		case !unprintable(r) && (r < utf8.RuneSelf || !ascii):
			out = append(out, line[:size]...)
		case r > 0xffff:
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		line = line[size:]
	}
	return out
}

// EnumText is an enum's value for people: what follows the name of its type, in lower case.
func EnumText(e protoreflect.Enum) string {
	values := e.Descriptor().Values()
	value := values.ByNumber(e.Number())
	if value == nil {
		return fmt.Sprint(e.Number()) // of a newer sidecar
	}
	prefix := strings.TrimSuffix(string(values.ByNumber(0).Name()), "UNSPECIFIED")
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix)), "_", " ")
}
