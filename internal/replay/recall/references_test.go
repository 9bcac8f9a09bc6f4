package recall

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

func TestReferencesOf_Text_FindsReferences(t *testing.T) {
	for text, want := range map[string]string{
		"see /src/main.go, or main.go.":        "/src/main.go main.go",
		"id order_77 and (abc-123) but not it": "abc-123 order_77",
		"end of a sentence. Another sentence":  "",
		"v1.2 is short, v1.2.3 is not":         "v1.2.3",
		`{"a":"x\nfoo_bar"}`:                   "foo_bar",
		"dir/sub/ and --flag_name":             "dir/sub flag_name",
		"größe_1 日本語のID7":                      "größe_1 日本語のID7",
		"":                                     "",
	} {
		w := ReferencesOf([]validate.Item{{Kind: validate.Text, Texts: []string{text}}})
		if got := strings.Join(slices.Sorted(maps.Keys(w)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestReferencesOf_Calls_ReadsArgumentsByValue(t *testing.T) {
	w := ReferencesOf([]validate.Item{
		{Kind: validate.Call, Texts: []string{`{"path":"a_b_c_d\ne_f_g_h","line":1234567}`}},
		{Kind: validate.Call, Texts: []string{`not JSON: x_y_z_0`}},
		{Kind: validate.Reasoning, Texts: []string{`thought_1`}},
	})
	if got := strings.Join(slices.Sorted(maps.Keys(w)), " "); got != "1234567 a_b_c_d e_f_g_h x_y_z_0" {
		t.Error(got)
	}
}
