package citations

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

func TestReadTree_KeepsWhatIsTold(t *testing.T) {
	text := ` {"a": 1 , "list": [{"b": [1, 2] }, 2], "text": "x\"y", "empty": {}} `
	root := readTree(text)
	if root.count != 4 || root.objects != 1 || root.arrays != 1 || root.cut || root.text != strings.TrimSpace(text) {
		t.Fatalf("read as %+v", root)
	}
	for i, want := range []string{`1`, `[{"b": [1, 2] }, 2]`, `"x\"y"`, `{}`} {
		if m := root.members[i]; m.text != want || text[m.end-len(want):m.end] != want {
			t.Errorf("member %d is %q up to %d", i, m.text, m.end)
		}
	}
	if b := root.member("LIST").members[0].member("B"); b.count != 2 || b.text != "[1, 2]" {
		t.Errorf("a deep member is %+v", b)
	}
}

func TestReadTree_LongestOfManyMembers(t *testing.T) {
	text := "{" + strings.Repeat(`"small": {"x": 1}, `, 100) + `"large": [` + strings.Repeat("1, ", 100) + `1], "last": [1]}`
	root := readTree(text)
	if root.count != 102 || root.longest == nil || root.longest.key != `"large"` || readTree(root.longest.text).count != 101 {
		t.Errorf("the longest is %+v", root.longest)
	}
}

func TestReadTree_OfAHead(t *testing.T) {
	for _, text := range []string{`{"a": [1, {"b": "x`, `{"a": [1, {"b": "x"`, `{"a": [1, {"b": 2`, `{"a": [1, {"b": 2}`, `{"a": [1, {"b"`, `{"a": [1,`} {
		root := readTree(text)
		if root == nil || !root.cut || root.member("a") == nil || !root.member("a").cut || root.member("a").count == 0 {
			t.Errorf("%s is read as %+v", text, root)
		}
	}
	for _, text := range []string{"", "1", `"a"`, `{"a" 1}`, `[1, }`, "text"} {
		if root := readTree(text); root != nil {
			t.Errorf("%s is read as %+v", text, root)
		}
	}
}

func TestReadTree_IsBounded(t *testing.T) {
	text := `{"a": 1}`
	for range 5 {
		text = "{" + strings.Repeat(`"key": `+text+`, `, 11) + `"last": ` + text + "}"
	}
	var size func(v *jsonValue) int
	size = func(v *jsonValue) int {
		n := 1
		for _, m := range v.members {
			n += size(m)
		}
		return n
	}
	if n := size(readTree(text)); n > maxValues+33 || n < 1000 {
		t.Errorf("%d values are kept of %d bytes", n, len(text))
	}
}

// TestMake_ListsBehindTheLastKeptValue_AreToldBySize: where there is no room for a list's items, there is none for its first one.
func TestMake_ListsBehindTheLastKeptValue_AreToldBySize(t *testing.T) {
	many := `{"a": 1}`
	for range 5 {
		many = "{" + strings.Repeat(`"key": `+many+`, `, 11) + `"last": ` + many + "}"
	}
	text := `{"many": ` + many + `, "list": [` + strings.Repeat(`{"id": "long enough to be no small member"}, `, 20) + `{}], "map": {` +
		strings.Repeat(`"key": {"id": "long enough to be no small member"}, `, 20) + `"key": {}}}`
	c := Make(sourceOf(text), content.KindJSON, text, true, func(s string) int { return len(s) / 4 })
	if !strings.Contains(c.Text, `"list" [21 items]`) || !strings.Contains(c.Text, `"map" {21 members}`) {
		t.Error(c.Text)
	}
}
