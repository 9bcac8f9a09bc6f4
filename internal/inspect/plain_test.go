package inspect

import (
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
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
	f := recallingFake()
	f.conversations = []*pb.ListConversationsResponse{{Conversations: []*pb.Conversation{f.conversation}}}
	f.messages = []*pb.ListMessagesResponse{{Messages: []*pb.Message{f.message}, Summaries: []*pb.Summary{{Id: "s7", Text: "x"}}}}
	f.expansions = []*pb.ExpandMessageResponse{{Children: []*pb.ExpandedChild{{Child: &pb.ExpandedChild_Message{Message: f.message}}}}}
	f.manifest = &pb.GetManifestResponse{Manifest: f.manifests[0], Messages: f.build.GetMessages()}
	all := []proto.Message{f.conversation, f.build, f.message, f.manifest, f.messages[0].Summaries[0], f.memories[0], f.memories[1], f.sync[0], f.forgets[3]}
	f.forgets = f.forgets[3:4]
	for _, e := range f.events {
		all = append(all, e)
	}
	for _, m := range all {
		poison(m.ProtoReflect(), hostile)
	}
	return f
}

// TestCommands_HostileText_NothingReachesTheTerminal: of every field of every answer, in tables and in JSON.
// steers says of a character that it would move the cursor, change colors or turn a line around.
func steers(r rune) bool {
	joiner := r == '\u200c' || r == '\u200d'
	return !joiner && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
}

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
			"memories":      &MemoriesListCommand{Sidecar: flags, whose: whose{Actor: "a", Scope: "user"}},
			"search":        &MemoriesSearchCommand{Sidecar: flags, Conversation: "c", Query: "q", Max: 10},
			"sync":          &MemoriesSyncCommand{Sidecar: flags, Conversation: "c"},
			"end session":   &MemoriesEndSessionCommand{Sidecar: flags, Conversation: "c"},
			"forget":        &MemoriesForgetCommand{Sidecar: flags, Actor: "a"},
			"explain":       &ExplainCommand{Sidecar: flags, Conversation: "c", Message: index, textWidth: wide},
		} {
			out, remarks, err := run(t, c, "80")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if at := strings.IndexFunc(strings.ReplaceAll(out+remarks, "\n", ""), steers); at >= 0 || out == "" {
				t.Errorf("%s, JSON %v: %q at %d", name, asJSON, out, at)
			}
		}
	}
}

// TestReasons_EveryReasonOfAnEvent_HasWords: one that is new would show its name alone.
func TestReasons_EveryReasonOfAnEvent_HasWords(t *testing.T) {
	ofRenderings := "call never answered,result late,empty text,foreign block,arguments wrapped,opener added,continue added,system as user,media as text,name replaced,unspecified"
	for number := range pb.DecisionReason_name {
		r := pb.DecisionReason(number)
		if _, ok := reasons[r]; !ok && !strings.Contains(ofRenderings, strings.ToLower(sheet.EnumText(r))) {
			t.Errorf("%s has no words", r)
		}
	}
}
