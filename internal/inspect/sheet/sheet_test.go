package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

// steering would move the cursor, change colors or turn a line around.
const steering = "\x1b[2J\x1b]0;title\x07\u009b31m\r\n\x00\x7f\u202e\u2066\u200f\u2028\ufeff\U000e0041x"

func TestSheet_Object_EscapedJSON_KeepsItsValues(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		var out bytes.Buffer
		want := &pb.Conversation{Id: "c", Title: steering + "世界 🧾 \U000f0001", Revision: 1 << 60}
		if err := (&Sheet{Out: &out, ASCII: ascii}).Object(want); err != nil {
			t.Fatal(err)
		}
		got := &pb.Conversation{}
		if err := protojson.Unmarshal(out.Bytes(), got); err != nil || !proto.Equal(got, want) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%v: %s", err, out.String())
		}
		if isASCII := uniseg.StringWidth(out.String()) == out.Len()-1 && !strings.ContainsAny(out.String(), "世🧾"); isASCII != ascii {
			t.Errorf("ASCII %v: %s", ascii, out.String())
		}
	}
}

// TestTable_Rows_AnyText_StaysInColumns: whatever the cells hold, columns begin at the same place and lines end in time.
func TestTable_Rows_AnyText_StaysInColumns(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		ascii := rapid.Bool().Draw(t, "ascii")
		list := &Table{Sheet: &Sheet{Out: &out, Width: 80, ASCII: ascii}, Columns: []Column{{Title: "a", Most: 12}, {Title: "b", Right: true, Most: 9}, {Title: "c"}}}
		cells := rapid.Custom(func(t *rapid.T) []string {
			cell := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("世界🧾é\u0301👩🏽‍🚀\u200d\x1b\u202eab "))))
			text := func(label string) string { return strings.ReplaceAll(cell.Draw(t, label), "|", "") }
			return []string{text("a"), text("b"), "|." + text("c")}
		})
		if list.Rows(rapid.SliceOfN(cells, 1, 8).Draw(t, "rows")); list.Err() != nil {
			t.Fatal(list.Err())
		}
		begin := -1
		for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
			before, _, found := strings.Cut(line, "  |")
			if width := uniseg.StringWidth(line); width > 80 || i > 0 && !found {
				t.Fatalf("%d columns: %q", width, line)
			}
			if i == 0 {
				continue
			}
			if begin >= 0 && begin != uniseg.StringWidth(before) {
				t.Fatalf("the last column begins at %d and %d:\n%s", begin, uniseg.StringWidth(before), out.String())
			}
			begin = uniseg.StringWidth(before)
		}
	})
}

func TestCut_ShortensToColumns(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"世界世界", 5, "世界…"}, {"世界世界", 4, "世…"}, {"世界", 4, "世界"}, {"ab cd", 4, "ab…"}, {"abc", 0, ""},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
	} {
		if got := Cut(c.text, c.width, "…"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestPlain_ManyAccentsOnOneLetter_BecomeOneMark(t *testing.T) {
	if got := Cut(Plain("a"+strings.Repeat("\u0301", 500)+"b", 1<<20, false), 9, "…"); len(got) > 9*MaxCluster || !strings.HasSuffix(got, "b") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func FuzzEscaped(f *testing.F) {
	f.Add(steering, true)
	f.Fuzz(func(t *testing.T, text string, ascii bool) {
		line, err := json.Marshal(text)
		if err != nil {
			t.Skip("no JSON")
		}
		var want, got string
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		out := escaped(line, ascii)
		if err := json.Unmarshal(out, &got); err != nil || got != want || bytes.ContainsFunc(out, unprintable) {
			t.Errorf("%v: %q of %q", err, out, line)
		}
	})
}

// full is a disk without room.
type full struct{ writes int }

func (f *full) Write([]byte) (int, error) {
	f.writes++
	return 0, io.ErrShortWrite
}

func TestSheet_Line_RemembersTheFirstErrorAndPrintsNoMore(t *testing.T) {
	disk := &full{}
	s := &Sheet{Out: disk, Width: 80}
	s.Title("title")
	s.Field("label", 10, "text")
	(&Table{Sheet: s, Columns: []Column{{Title: "a"}}}).Rows([][]string{{"b"}})
	if !errors.Is(s.Err(), io.ErrShortWrite) || disk.writes != 1 {
		t.Errorf("%v after %d writes", s.Err(), disk.writes)
	}
}

func TestSheet_Paint_OnlyWhereColorsAreWanted(t *testing.T) {
	if got := (&Sheet{}).Paint(Red, "x"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := (&Sheet{Color: true}).Paint(Red, "x") + (&Sheet{Color: true}).Paint("", "y"); got != "\x1b[31mx\x1b[0my" {
		t.Errorf("%q", got)
	}
}
