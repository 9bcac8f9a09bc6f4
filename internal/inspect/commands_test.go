package inspect

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func TestSidecar_Run_NobodyListens_SaysWhatToDo(t *testing.T) {
	_, _, err := run(t, &ConversationsCommand{Sidecar: Sidecar{Flags: dial.Flags{Address: "127.0.0.1:1"}, Timeout: time.Second}}, "80")
	if err == nil || err.Error() != "127.0.0.1:1 does not answer: connection refused; is a sidecar listening there? --address names another" {
		t.Errorf("%v", err)
	}
}

func TestSidecar_Run_Refused_SaysReasonFieldsAndHint(t *testing.T) {
	for _, c := range []struct {
		fault error
		want  string
	}{
		{refusal(codes.NotFound, reasonNoConversation, "no such conversation"), "CONVERSATION_NOT_FOUND: no such conversation; `sidecar conversations` lists those on record"},
		{
			refusal(codes.InvalidArgument, "INVALID_FIELD", "bad \x1b[31mfields", &errdetails.BadRequest_FieldViolation{Field: "a", Description: "must be b"}),
			"INVALID_FIELD: bad [31mfields; a must be b",
		},
		{
			refusal(codes.InvalidArgument, "INVALID_FIELD", "the request is not valid: a: must be b (and 1 more)",
				&errdetails.BadRequest_FieldViolation{Field: "a", Description: "must be b"}, &errdetails.BadRequest_FieldViolation{Field: "c", Description: "must be d"}),
			"INVALID_FIELD: the request is not valid: a: must be b (and 1 more); c must be d",
		},
	} {
		f := story()
		f.missing = c.fault
		if _, _, err := run(t, &ContextCommand{Sidecar: f.flags(t), Conversation: "c"}, "80"); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestConversationsCommand_Run_FollowsPagesToTheLimit(t *testing.T) {
	f := story()
	f.conversations = []*pb.ListConversationsResponse{
		{Conversations: []*pb.Conversation{f.conversation}, NextPageToken: "1"},
		{NextPageToken: "2"},
		{Conversations: []*pb.Conversation{{Id: "b", Title: "no build yet", MessageCount: 1, TokenCount: 9, UpdateTime: at(1)}, {Id: "c"}}},
	}
	out, _, err := run(t, &ConversationsCommand{Sidecar: f.flags(t), Limit: 2}, "100")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "conversations", out)
}

func TestMessagesCommand_Run_SaysWhereEachMessageIs(t *testing.T) {
	message := func(index int32, view *pb.MessageView) *pb.Message {
		return &pb.Message{Index: index, Role: pb.Role_ROLE_USER, Parts: text("注文 🧾 number " + strings.Repeat("x", 99)), TokenCount: 1000 * index, View: view}
	}
	f := story()
	f.messages = []*pb.ListMessagesResponse{
		{Messages: []*pb.Message{message(0, &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, InView: true}), message(9, &pb.MessageView{SummaryId: "s7"})}, NextPageToken: "1"},
		{
			Summaries: []*pb.Summary{{Id: "s7", StartIndex: 1, EndIndex: 13, Tokens: 300, Text: "What was done."}},
			Messages: []*pb.Message{
				message(13, &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL}),
				message(30, &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_SHORTENED, InView: true, EditId: "e3", Expired: true}),
				message(31, &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_REMOVED, EditId: "e4"}),
				message(32, &pb.MessageView{Hidden: true, EditId: "e5"}), message(33, &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL}),
			},
		},
	}
	out, _, err := run(t, &MessagesCommand{
		Sidecar: f.flags(t), Conversation: "c", Current: true, From: 0, To: pointer(int32(40)), Role: []string{"user"}, Tag: []string{"x"}, textWidth: textWidth{60},
	}, "80")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "messages", out)
	r := f.listed[1]
	if r.GetView() != pb.ListView_LIST_VIEW_CURRENT || r.GetRange().GetEndIndex() != 40 || r.GetFilter().GetRoles()[0] != pb.Role_ROLE_USER || r.GetFilter().GetTags()[0] != "x" || r.GetPageToken() != "1" {
		t.Errorf("asked %v", r)
	}
}

func TestEventsCommand_Run_EndsWhenNothingMoreComes(t *testing.T) {
	f := story()
	out, remarks, err := run(t, &EventsCommand{Sidecar: f.flags(t), Conversation: "c", Since: "t0"}, "80")
	if err != nil || remarks != "go on with --since t4\n" || f.watched.GetResumeToken() != "t0" {
		t.Fatalf("%v, %q, asked %v", err, remarks, f.watched)
	}
	golden(t, "events", out)
}

func TestEventsCommand_Run_Limit_EndsThere(t *testing.T) {
	out, remarks, err := run(t, &EventsCommand{Sidecar: story().flags(t), Conversation: "c", Follow: true, Limit: 2}, "80")
	if err != nil || strings.Count(out, "\n") != 4 || remarks != "go on with --since t2\n" {
		t.Errorf("%v, %q\n%s", err, remarks, out)
	}
}

// TestEventsCommand_Run_Follow_GoesOnUntilItIsEnded waits for longer than the silence that ends it otherwise.
func TestEventsCommand_Run_Follow_GoesOnUntilItIsEnded(t *testing.T) {
	f := story()
	t.Setenv("COLUMNS", "80")
	ctx, end := context.WithCancel(t.Context())
	defer time.AfterFunc(2*quiet, end).Stop()
	var out, remarks bytes.Buffer
	began := time.Now()
	err := (&EventsCommand{Sidecar: f.flags(t), Conversation: "c", Follow: true}).Run(ctx, &Env{Stdout: &out, Stderr: &remarks})
	if err != nil || time.Since(began) < 2*quiet || remarks.String() != "go on with --since t4\n" {
		t.Errorf("%v after %s, %q", err, time.Since(began), remarks.String())
	}
}

func TestExpandCommand_Run_IntoAPipe_IsByteForByte(t *testing.T) {
	f := story()
	original := "a\r\n\x1b[31m\u202e\x00 \u00a0"
	f.expansions = []*pb.ExpandMessageResponse{
		{Message: &pb.Message{Parts: text(original)}, NextPageToken: "1"}, {Message: &pb.Message{Parts: text(" the rest")}},
	}
	out, _, err := run(t, &ExpandCommand{Sidecar: f.flags(t), Conversation: "c", Target: Target{summary: "s7"}}, "80")
	if err != nil || out != original+" the rest" {
		t.Errorf("%v, %q", err, out)
	}
	if r := f.expanded[1]; r.GetMode() != pb.ExpandMode_EXPAND_MODE_RETURN_ONLY || r.GetSummaryId() != "s7" || r.GetPageToken() != "1" {
		t.Errorf("asked %v", r)
	}
}

func TestExpansion_Text_OnATerminal_IsPlain(t *testing.T) {
	var out bytes.Buffer
	e := &expansion{printing: printing{session: &session{out: &sheet.Sheet{Out: &out, Terminal: true}}}}
	if err := e.text("two\nlines\tof \x1b[2Jtext\u202e"); err != nil {
		t.Fatal(err)
	}
	if e.end(); e.out.Err() != nil || out.String() != "two\nlines\tof [2Jtext\n" {
		t.Errorf("%v, %q", e.out.Err(), out.String())
	}
}

func TestExpandCommand_Run_MaxTokens_SaysThatThereIsMore(t *testing.T) {
	f := story()
	f.expansions = []*pb.ExpandMessageResponse{{
		Message: &pb.Message{Parts: text("begin")}, Returned: &pb.Span{EndIndex: new(int64(5))}, TotalChars: 900, NextPageToken: "1",
	}}
	out, remarks, err := run(t, &ExpandCommand{
		Sidecar: f.flags(t), Conversation: "c", Target: Target{id: "m"}, MaxTokens: 2, Lines: &Stretch{&pb.Span{StartIndex: 3, EndIndex: new(int64(9))}},
	}, "80")
	if err != nil || out != "begin" || remarks != "There is more, of 900 characters in all: go on with --chars 5:\n" {
		t.Errorf("%v, %q, %q", err, out, remarks)
	}
	if r := f.expanded[0]; r.GetMessageId() != "m" || r.GetMaxTokens() != 2 || r.GetLines().GetStartIndex() != 3 {
		t.Errorf("asked %v", r)
	}
}

func TestExpandCommand_Run_Restore_SaysWhatItCosts(t *testing.T) {
	f := story()
	f.expansions = []*pb.ExpandMessageResponse{{Message: &pb.Message{Parts: text("x")}, Events: []*pb.LifecycleEvent{{}}, RewriteTokens: 1234}}
	_, remarks, err := run(t, &ExpandCommand{Sidecar: f.flags(t), Conversation: "c", Target: Target{index: pointer(int32(3))}, Restore: true}, "80")
	if r := f.expanded[0]; err != nil || r.GetMode() != pb.ExpandMode_EXPAND_MODE_RESTORE || r.GetMessageIndex() != 3 || !strings.Contains(remarks, "1,234 tokens anew") {
		t.Errorf("%v, %q, asked %v", err, remarks, r)
	}
}

func TestExpandCommand_Validate_RestoresWholeMessagesAlone(t *testing.T) {
	one := Target{index: pointer(int32(1))}
	for _, c := range []*ExpandCommand{
		{Restore: true, Target: one, MaxTokens: 1}, {Restore: true, Target: one, Chars: &Stretch{}}, {Restore: true, Target: Target{summary: "s1"}},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if err := (&ExpandCommand{Restore: true, Target: one}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestExpandCommand_Validate_PartsAreOfMessagesAlone(t *testing.T) {
	summary, one := Target{summary: "s1"}, Target{index: pointer(int32(1))}
	for _, c := range []*ExpandCommand{{Chars: &Stretch{}}, {Lines: &Stretch{}}, {Items: &Stretch{}}} {
		if c.Target = summary; c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
		if c.Target = one; c.Validate() != nil {
			t.Errorf("%+v is refused", c)
		}
	}
	if err := (&ExpandCommand{Target: summary}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestExpandCommand_Run_Summary_ListsItsChildren(t *testing.T) {
	f := story()
	f.expansions = []*pb.ExpandMessageResponse{
		{Children: []*pb.ExpandedChild{{Child: &pb.ExpandedChild_SummaryId{SummaryId: "s3"}, StartIndex: 1, EndIndex: 91}}, NextPageToken: "1"},
		{Children: []*pb.ExpandedChild{{Child: &pb.ExpandedChild_Message{Message: &pb.Message{Index: 91, Role: pb.Role_ROLE_USER, Parts: text("hello 世界"), TokenCount: 4}}}}},
	}
	out, _, err := run(t, &ExpandCommand{Sidecar: f.flags(t), Conversation: "c", Target: Target{summary: "s7"}, textWidth: textWidth{60}}, "80")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "expand-summary", out)
}

// TestExpandCommand_Run_Refused_IsInWords: the error passes through one that joins several.
func TestExpandCommand_Run_Refused_IsInWords(t *testing.T) {
	f := story()
	f.refused = refusal(codes.NotFound, "MESSAGE_NOT_FOUND", "no message has this id")
	_, _, err := run(t, &ExpandCommand{Sidecar: f.flags(t), Conversation: "c", Target: Target{id: "m"}}, "80")
	if err == nil || err.Error() != "MESSAGE_NOT_FOUND: no message has this id" {
		t.Errorf("%v", err)
	}
}

func TestTarget_UnmarshalText_TellsIndexSummaryAndID(t *testing.T) {
	for raw, want := range map[string]string{
		"12": "index 12", "s7": "summary s7", "msg-1": "id msg-1", "id:12": "id 12", "id:s7": "id s7", "s": "id s", "sx": "id sx", "-1": "id -1",
		"": "refused", "id:": "refused", "2147483648": "refused", "99999999999999999999": "id 99999999999999999999",
	} {
		var target Target
		got := "refused"
		if err := target.UnmarshalText([]byte(raw)); err == nil {
			switch {
			case target.index != nil:
				got = "index " + raw
			case target.summary != "":
				got = "summary " + target.summary
			default:
				got = "id " + target.id
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}

func TestStretch_UnmarshalText_HasTwoEnds(t *testing.T) {
	for raw, want := range map[string]*pb.Span{
		"3:9": {StartIndex: 3, EndIndex: new(int64(9))}, ":9": {EndIndex: new(int64(9))}, "3:": {StartIndex: 3}, ":": {},
		"5000000000:6000000000": {StartIndex: 5_000_000_000, EndIndex: new(int64(6_000_000_000))},
	} {
		var s Stretch
		if err := s.UnmarshalText([]byte(raw)); err != nil || !proto.Equal(s.pb, want) {
			t.Errorf("%q: %v, %v", raw, s.pb, err)
		}
	}
	for _, raw := range []string{"", "3", "9:3", "3:3", "-1:3", "a:b", "1:2:3", "0:4398046511105"} {
		if (&Stretch{}).UnmarshalText([]byte(raw)) == nil {
			t.Errorf("%q is taken", raw)
		}
	}
}
