package toolcalls

import "testing"

// TestParse_SummaryID_OfAnyLength: a number that no int64 holds is refused, and not read as another one.
func TestParse_SummaryID_OfAnyLength(t *testing.T) {
	for id, want := range map[string]int64{
		"s7": 7, "s7.0": 7, "s999999999999999999": 999_999_999_999_999_999, "s9999999999999999999": 0, "s18446744073709551623": 0, "s0": 0, "s": 0, "s-7": 0,
	} {
		args, err := Parse("expand_message", `{"id":"`+id+`"}`)
		if (err == nil) != (want > 0) || err == nil && args.Summary != want {
			t.Errorf("%s: %+v, %v", id, args, err)
		}
	}
}
