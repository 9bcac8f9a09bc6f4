package inspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

// hostile is what a tool may have printed to take a terminal over, or to make a line read as another.
const hostile = "\x1b[2J\x1b]0;title\x07\u009b31m\r\n\x00\x7f\u202e\u2066\u200f\u2028\ufeff\U000e0041x"

// poison puts text into every field of a message that holds any.
func poison(m protoreflect.Message, text string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				poison(v.List().Get(i).Message(), text)
			}
		case f.Message() != nil && f.Message().FullName() != "google.protobuf.Timestamp":
			poison(v.Message(), text)
		case f.Kind() == protoreflect.StringKind && !f.IsList() && f.Name() != "next_page_token":
			m.Set(f, protoreflect.ValueOfString(v.String()+text))
		}
		return true
	})
}

func poisoned() *fake {
	f := story()
	f.conversations = []*pb.ListConversationsResponse{{Conversations: []*pb.Conversation{f.conversation}}}
	f.messages = []*pb.ListMessagesResponse{{Messages: []*pb.Message{f.message}, Summaries: []*pb.Summary{{Id: "s7", Text: "x"}}}}
	f.expansions = []*pb.ExpandMessageResponse{{Children: []*pb.ExpandedChild{{Child: &pb.ExpandedChild_Message{Message: f.message}}}}}
	f.manifest = &pb.GetManifestResponse{Manifest: f.manifests[0], Messages: f.build.GetMessages()}
	all := []proto.Message{f.conversation, f.build, f.message, f.manifest, f.messages[0].Summaries[0]}
	for _, e := range f.events {
		all = append(all, e)
	}
	for _, m := range all {
		poison(m.ProtoReflect(), hostile)
	}
	return f
}

// TestCommands_HostileText_NothingReachesTheTerminal: of every field of every answer, in tables and in JSON.
func TestCommands_HostileText_NothingReachesTheTerminal(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		f := poisoned()
		flags := f.flags(t)
		flags.JSON = asJSON
		wide, index := textWidth{60}, Target{index: pointer(int32(23))}
		for name, c := range map[string]command{
			"context":       &ContextCommand{Sidecar: flags, Conversation: "c", textWidth: wide},
			"manifest":      &ContextCommand{Sidecar: flags, Conversation: "c", Manifest: "b1", textWidth: wide},
			"events":        &EventsCommand{Sidecar: flags, Conversation: "c"},
			"conversations": &ConversationsCommand{Sidecar: flags},
			"messages":      &MessagesCommand{Sidecar: flags, Conversation: "c", textWidth: wide},
			"expand":        &ExpandCommand{Sidecar: flags, Conversation: "c", Target: index, textWidth: wide},
			"explain":       &ExplainCommand{Sidecar: flags, Conversation: "c", Message: index, textWidth: wide},
		} {
			out, remarks, err := run(t, c, "80")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if at := strings.IndexFunc(strings.ReplaceAll(out+remarks, "\n", ""), unprintable); at >= 0 || out == "" {
				t.Errorf("%s, JSON %v: %q at %d", name, asJSON, out, at)
			}
		}
	}
}

func TestSheet_Object_EscapedJSON_KeepsItsValues(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		var out bytes.Buffer
		want := &pb.Conversation{Id: "c", Title: hostile + "世界 🧾 \U000f0001", Revision: 1 << 60}
		if err := (&sheet{out: &out, ascii: ascii}).object(want); err != nil {
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
		list := &table{sheet: &sheet{out: &out, width: 80, ascii: ascii}, columns: []column{{title: "a", most: 12}, {title: "b", right: true, most: 9}, {title: "c"}}}
		cells := rapid.Custom(func(t *rapid.T) []string {
			cell := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("世界🧾é\u0301👩🏽‍🚀\u200d\x1b\u202eab "))))
			text := func(label string) string { return strings.ReplaceAll(cell.Draw(t, label), "|", "") }
			return []string{text("a"), text("b"), "|." + text("c")}
		})
		if err := list.rows(rapid.SliceOfN(cells, 1, 8).Draw(t, "rows")); err != nil {
			t.Fatal(err)
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
		if got := cut(c.text, c.width, "…"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestPlain_ManyAccentsOnOneLetter_BecomeOneMark(t *testing.T) {
	if got := cut(plain("a"+strings.Repeat("\u0301", 500)+"b", 1<<20, false), 9, "…"); len(got) > 9*maxCluster || !strings.HasSuffix(got, "b") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestReasons_EveryReasonOfAnEvent_HasWords: one that is new would show its name alone.
func TestReasons_EveryReasonOfAnEvent_HasWords(t *testing.T) {
	ofRenderings := "call never answered,result late,empty text,foreign block,arguments wrapped,opener added,continue added,system as user,media as text,name replaced,unspecified"
	for number := range pb.DecisionReason_name {
		r := pb.DecisionReason(number)
		if _, ok := reasons[r]; !ok && !strings.Contains(ofRenderings, strings.ToLower(word(r))) {
			t.Errorf("%s has no words", r)
		}
	}
}

func FuzzEscaped(f *testing.F) {
	f.Add(hostile, true)
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
