package provider

import "strconv"

// AppendCallID appends the rendered id of a call as a JSON string: a function of the record, never of the window.
func AppendCallID(dst []byte, ordinal int32) []byte {
	dst = append(dst, `"call_`...)
	dst = strconv.AppendInt(dst, int64(ordinal), 10)
	return append(dst, '"')
}

// CallID returns the rendered id of a call.
func CallID(ordinal int32) string { return "call_" + strconv.Itoa(int(ordinal)) }
