package inspect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func TestExplainCommand_Run_TellsALife(t *testing.T) {
	f := story()
	f.message.Parts[0].GetToolResult().Expiration = &pb.Expiration{Turns: pointer(int32(2)), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE}
	out, _, err := run(t, &ExplainCommand{Sidecar: f.flags(t), Conversation: "support-42", Message: Target{index: pointer(int32(23))}, textWidth: textWidth{60}}, "80")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain", out)
}

func TestExplainCommand_Run_ByID_FindsItsIndex(t *testing.T) {
	f := story()
	f.expansions = []*pb.ExpandMessageResponse{{Message: &pb.Message{Index: 23}}}
	out, _, err := run(t, &ExplainCommand{Sidecar: f.flags(t), Conversation: "c", Message: Target{id: "m-23"}}, "80")
	if err != nil || !strings.HasPrefix(out, "Message 23 of c: ") || f.expanded[0].GetMessageId() != "m-23" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestExplainCommand_Run_JSON_HoldsAllThatIsTold(t *testing.T) {
	f := story()
	command := &ExplainCommand{Sidecar: f.flags(t), Conversation: "c", Message: Target{index: pointer(int32(23))}}
	command.JSON = true
	out, _, err := run(t, command, "80")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Message, Shown    map[string]any
		Events, Decisions []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Message["index"] != 23.0 || len(got.Events) != 2 || len(got.Decisions) != 1 || got.Shown["editId"] != "e30" {
		t.Errorf("%s", out)
	}
}

// TestLife_Now_SaysWhatTheModelSees goes through the ends that a message can come to.
func TestLife_Now_SaysWhatTheModelSees(t *testing.T) {
	hidden, summarized := &pb.MessageView{Hidden: true}, &pb.MessageView{SummaryId: "s7"}
	full := &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, InView: true}
	for _, c := range []struct {
		index int32
		view  *pb.MessageView
		want  string
	}{
		{30, hidden, "Now the model does not see it: RewindConversation took it back."},
		{5, summarized, "Now the model does not see it itself: summary s7 stands for messages 1-20."},
		{21, full, "Now the model sees it in full, as it was appended."},
		{23, full, "Now the model sees 17 of its 500 tokens: pruned e30; a tool result older than the newest tokens, which stay."},
		{46, &pb.MessageView{}, "Now the model does not see it: the turns of all that belongs together were over."},
		{99, &pb.MessageView{}, "Now the model does not see it: no decision names it."},
	} {
		l := &life{conversation: "c", message: &pb.Message{Index: c.index, View: c.view, TokenCount: 500}}
		l.see(story().build)
		if got := l.now()[0]; got != c.want {
			t.Errorf("%d: %s, want %s", c.index, got, c.want)
		}
	}
}

// TestLife_Now_EveryForm_IsNotAsItWasAppended: of several forms the one that leaves least is told, and what waits is no form.
func TestLife_Now_EveryForm_IsNotAsItWasAppended(t *testing.T) {
	told := func(kinds ...pb.DecisionKind) string {
		l := &life{message: &pb.Message{TokenCount: 50}, built: true, shownNow: &pb.ContextMessage{Tokens: 20}}
		for _, k := range kinds {
			l.decisions = append(l.decisions, &pb.Decision{EndIndex: 1, Kind: k, Detail: "so it is"})
		}
		return l.visibility()
	}
	corrected, deduplicated := pb.DecisionKind_DECISION_KIND_CORRECTED, pb.DecisionKind_DECISION_KIND_DEDUPLICATED
	pruned, deferred := pb.DecisionKind_DECISION_KIND_PRUNED, pb.DecisionKind_DECISION_KIND_DEFERRED
	for got, want := range map[string]string{
		told(corrected):         "Now the model sees it in other words: corrected; so it is.",
		told(deduplicated):      "Now the model sees 20 of its 50 tokens: deduplicated; so it is.",
		told(corrected, pruned): "Now the model sees 20 of its 50 tokens: pruned; so it is.",
		told(deferred):          "Now the model sees it in full, as it was appended.",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFormKinds_NameEveryKind: a kind of decision is a form in which a message is shown, or one of those that are told otherwise.
func TestFormKinds_NameEveryKind(t *testing.T) {
	otherwise := []pb.DecisionKind{
		pb.DecisionKind_DECISION_KIND_UNSPECIFIED, pb.DecisionKind_DECISION_KIND_LEFT_OUT, pb.DecisionKind_DECISION_KIND_REPAIRED,
		pb.DecisionKind_DECISION_KIND_REMOVED, pb.DecisionKind_DECISION_KIND_SUMMARIZED, pb.DecisionKind_DECISION_KIND_HIDDEN,
		pb.DecisionKind_DECISION_KIND_RECALLED,
	}
	for number, name := range pb.DecisionKind_name {
		if kind := pb.DecisionKind(number); slices.Contains(formKinds, kind) == slices.Contains(otherwise, kind) {
			t.Errorf("%s is told in no way, or in two", name)
		}
	}
}

func TestLife_Now_NothingCanBeBuilt_FallsBackOnTheNewestBuild(t *testing.T) {
	f := story()
	f.fault = refusal(codes.FailedPrecondition, "CONTEXT_CANNOT_FIT", "too much")
	out, _, err := run(t, &ExplainCommand{Sidecar: f.flags(t), Conversation: "c", Message: Target{index: pointer(int32(23))}}, "120")
	if want := "Nothing can be built now (CONTEXT_CANNOT_FIT). The newest build showed it: cleared e30."; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestLife_Original_Erased_IsNotPromised(t *testing.T) {
	var out bytes.Buffer
	l := &life{Sheet: &sheet.Sheet{Out: &out, Width: 80}, message: &pb.Message{Parts: []*pb.Part{{Erasure: &pb.Erasure{OriginalLengthChars: 9}}}}}
	if l.original(); l.Err() != nil || strings.Contains(out.String(), "sidecar expand") || out.Len() == 0 {
		t.Errorf("%v, %q", l.Err(), out.String())
	}
}

// TestLife_Original_Corrected_IsNotPromisedAsAppended: an expansion returns the new words.
func TestLife_Original_Corrected_IsNotPromisedAsAppended(t *testing.T) {
	var out bytes.Buffer
	l := &life{
		Sheet: &sheet.Sheet{Out: &out, Width: 80}, message: &pb.Message{Index: 8}, conversation: "c",
		decisions: []*pb.Decision{{StartIndex: 8, EndIndex: 9, Kind: pb.DecisionKind_DECISION_KIND_CORRECTED}},
	}
	if l.original(); l.Err() != nil || out.String() != "In full, in its new words:\n  sidecar expand c 8\n" {
		t.Errorf("%v, %q", l.Err(), out.String())
	}
}

func TestShellWord_IsOneWord(t *testing.T) {
	for id, want := range map[string]string{"chat-1.a:b/c@d": "chat-1.a:b/c@d", "a b": "'a b'", "$(x)": "'$(x)'", "a'b": `'a'\''b'`, "äö": "'äö'"} {
		if got := shellWord(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestLife_Forgotten_EditWithoutEvent_IsSaid(t *testing.T) {
	f := story()
	f.message = proto.CloneOf(f.message)
	f.message.View.EditId = "e2"
	out, _, err := run(t, &ExplainCommand{Sidecar: f.flags(t), Conversation: "c", Message: Target{index: pointer(int32(23))}}, "120")
	if err != nil || !strings.Contains(out, "Edit e2 is in force; its event is no longer kept.") {
		t.Errorf("%v\n%s", err, out)
	}
}
