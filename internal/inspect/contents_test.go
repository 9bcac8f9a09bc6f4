package inspect

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// citing is a conversation in which the results of message 2 are cited.
func citing() *fake {
	f := story()
	parts := result("read", "[c1-k3v9q2mz: 90000 chars, text/plain, tool]\nBeginning:\nline 1...")
	parts[0].GetToolResult().Citation = &pb.Citation{ContentId: "c1-k3v9q2mz"}
	f.build = &pb.BuildContextResponse{
		Turn: 2,
		Messages: []*pb.ContextMessage{{
			Role: pb.Role_ROLE_TOOL, Parts: parts, Tokens: 190, EditId: "e1", Origin: &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: 2}}, EndIndex: 3,
		}},
		Tokens: &pb.TokenReport{Messages: 190, Total: 190, Budget: 28_000, SavedByCiting: 22_810, Counter: "o200k", Factor: 1},
		Decisions: []*pb.Decision{{
			StartIndex: 2, EndIndex: 3, Kind: pb.DecisionKind_DECISION_KIND_CITED, Reason: pb.DecisionReason_DECISION_REASON_OVER_CITATION_THRESHOLD,
			TokensBefore: 23_000, TokensAfter: 190, EditId: "e1",
		}},
	}
	f.events = []*pb.WatchEventsResponse{
		event(1, at(0), &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_ADDED, Turn: 1, MessageIndex: 2, EndIndex: 3, Reason: pb.DecisionReason_DECISION_REASON_APPENDED}),
		event(2, at(0), &pb.LifecycleEvent{
			Type: pb.EventType_EVENT_TYPE_CITED, Turn: 1, MessageIndex: 2, EndIndex: 3, Reason: pb.DecisionReason_DECISION_REASON_OVER_CITATION_THRESHOLD,
			TokensSaved: 22_810, EditId: "e1", ContentId: "c1-k3v9q2mz",
		}),
		event(3, at(1), &pb.LifecycleEvent{
			Type: pb.EventType_EVENT_TYPE_CONTENT_STORED, Turn: 2, MessageIndex: 2, EndIndex: 3, Reason: pb.DecisionReason_DECISION_REASON_STORE_CONTENT_REQUEST, ContentId: "c2-aaaaaaaa",
		}),
		event(4, at(2), &pb.LifecycleEvent{
			Type: pb.EventType_EVENT_TYPE_CONTENT_EXPIRED, Turn: 3, Reason: pb.DecisionReason_DECISION_REASON_RUN_ENDED, ContentId: "c1-k3v9q2mz",
		}),
	}
	f.message = &pb.Message{
		Index: 2, Role: pb.Role_ROLE_TOOL, Parts: result("read", "line 1 of all"), TokenCount: 23_000, TurnAdded: 1, CreateTime: at(0),
		View: &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CITED, EditId: "e1", InView: true, CanExpand: true},
	}
	return f
}

func TestContextCommand_Run_Cited_NamesContents(t *testing.T) {
	out, _, err := run(t, &ContextCommand{Sidecar: citing().flags(t), Conversation: "c", textWidth: textWidth{30}}, "100")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "context-cited", out)
}

func TestEventsCommand_Run_Contents_AreNamed(t *testing.T) {
	out, _, err := run(t, &EventsCommand{Sidecar: citing().flags(t), Conversation: "c"}, "120")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "events-cited", out)
}

// TestExplainCommand_Run_Cited_SaysHowToFindPassages: and what became of the content, but nothing of other contents.
func TestExplainCommand_Run_Cited_SaysHowToFindPassages(t *testing.T) {
	out, _, err := run(t, &ExplainCommand{Sidecar: citing().flags(t), Conversation: "support 42", Message: Target{index: pointer(int32(2))}, textWidth: textWidth{60}}, "100")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain-cited", out)
}

func TestMessagesCommand_Run_Cited_NamesContents(t *testing.T) {
	f := citing()
	shown := proto.CloneOf(f.message)
	shown.Parts = f.build.GetMessages()[0].GetParts()
	f.messages = []*pb.ListMessagesResponse{{Messages: []*pb.Message{f.message, shown}}}
	out, _, err := run(t, &MessagesCommand{Sidecar: f.flags(t), Conversation: "c"}, "100")
	if err != nil || !strings.Contains(out, "  cited e1\n") || !strings.Contains(out, "  cited e1 c1-k3v9q2mz\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSourcesCommand_Run_FollowsPagesToTheLimit(t *testing.T) {
	f := story()
	f.sources = []*pb.ListSourcesResponse{
		{Sources: []*pb.SourceRecord{{
			ContentId: "c1-k3v9q2mz", SourceType: pb.SourceType_SOURCE_TYPE_WEB, SourceUrl: "https://example.org/a\x1b[31m", ContentType: "text/html", TotalBytes: 2_100_000,
			AccessTime: at(0), CitedBy: []int32{4, 9}, State: pb.ContentState_CONTENT_STATE_STORED,
		}}, NextPageToken: "1"},
		{NextPageToken: "2"},
		{Sources: []*pb.SourceRecord{
			{ContentId: "c2-aaaaaaaa", SourceType: pb.SourceType_SOURCE_TYPE_TOOL, ContentType: "application/json", TotalBytes: 900, AccessTime: at(1), CitedBy: []int32{12}, State: pb.ContentState_CONTENT_STATE_EXPIRED, RunId: "r1"},
			{ContentId: "c3-bbbbbbbb", SourceType: pb.SourceType_SOURCE_TYPE_STORAGE, TotalBytes: 1, AccessTime: at(2), State: pb.ContentState_CONTENT_STATE_STORED, RunId: "r2", ExpireTime: at(60)},
			{ContentId: "c4-cccccccc"},
		}},
	}
	out, _, err := run(t, &SourcesCommand{Sidecar: f.flags(t), Conversation: "c", OfRun: "r", Limit: 3}, "110")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sources", out)
	if r := f.sourced[2]; r.GetConversationId() != "c" || r.GetRunId() != "r" || r.GetPageToken() != "2" {
		t.Errorf("asked %v", r)
	}
	command := &SourcesCommand{Sidecar: f.flags(t), Conversation: "c"}
	command.JSON = true
	if out, _, err := run(t, command, "80"); err != nil || strings.Count(out, "\n") != 4 || !strings.Contains(out, `"contentId":"c1-k3v9q2mz"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRetrieveCommand_Run_IntoAPipe_IsByteForByte(t *testing.T) {
	f := story()
	first, second := "a\r\n\x1b[31m\u202e\x00", "\xff rest"
	f.contents = []*pb.RetrieveContentResponse{{Chunk: []byte(first), NextPageToken: "1"}, {Chunk: []byte(second)}}
	out, remarks, err := run(t, &RetrieveCommand{Sidecar: f.flags(t), Conversation: "c", Content: "c1-x"}, "80")
	if err != nil || out != first+second || remarks != "" {
		t.Errorf("%v, %q, %q", err, out, remarks)
	}
	if r := f.read[1]; r.GetFull() == nil || r.GetContentId() != "c1-x" || r.GetPageToken() != "1" || r.GetMaxReplyBytes() != dial.LargestReply {
		t.Errorf("asked %v", r)
	}
}

func TestRetrieveCommand_Run_Ranges(t *testing.T) {
	part := &Stretch{&pb.Span{StartIndex: 44, EndIndex: new(int64(67))}}
	for unit, c := range map[string]*RetrieveCommand{"bytes": {Bytes: part}, "chars": {Chars: part}, "lines": {Lines: part}, "items": {Items: part}} {
		f := story()
		f.contents = []*pb.RetrieveContentResponse{{Chunk: []byte("x"), ByteRange: &pb.Span{StartIndex: 1000, EndIndex: new(int64(1999))}, NextPageToken: "1"}}
		c.Sidecar, c.Conversation, c.Content, c.MaxTokens = f.flags(t), "c", "c1-x", 7
		out, remarks, err := run(t, c, "80")
		if err != nil || out != "x" || remarks != "There is more: go on with --bytes 1999:\n" || len(f.read) != 1 || f.read[0].GetMaxTokens() != 7 {
			t.Errorf("%v, %q, %q, asked %v", err, out, remarks, f.read)
		}
		if got := f.read[0].GetRange().String(); !strings.HasPrefix(got, unit+":") || !strings.Contains(got, "start_index:44") {
			t.Errorf("asked for %s", got)
		}
	}
}

func TestRetrieveCommand_Run_Search_PrintsPassages(t *testing.T) {
	f := story()
	f.contents = []*pb.RetrieveContentResponse{{Excerpts: []*pb.Excerpt{
		{ContentId: "c1-x", Text: "order 1881\nshipped \x1b[0m\n", Location: "lines 45-46", MatchedTerms: []string{"order", "1881"}},
		{ContentId: "c1-x", Text: "返金", Location: "section: 返金"},
	}}}
	out, _, err := run(t, &RetrieveCommand{Sidecar: f.flags(t), Conversation: "c", Content: "c1-x", Search: []string{"order", "1881"}, Passages: 2, MaxTokens: 300}, "80")
	if want := "1. c1-x, lines 45-46; has order, 1881\norder 1881\nshipped \x1b[0m\n\n2. c1-x, section: 返金\n返金\n\n"; err != nil || out != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	if r := f.read[0]; len(r.GetExcerpts().GetSearchTerms()) != 2 || r.GetExcerpts().GetMaxExcerpts() != 2 || r.GetMaxTokens() != 300 {
		t.Errorf("asked %v", r)
	}
}

func TestRetrieveCommand_Run_WithoutContent_SearchesAll(t *testing.T) {
	f := story()
	f.found = &pb.SearchContentResponse{SearchedContents: 4, SkippedContents: 1}
	out, remarks, err := run(t, &RetrieveCommand{Sidecar: f.flags(t), Conversation: "c", Search: []string{"x"}}, "80")
	if err != nil || out != "" || remarks != "1 content of 5 cannot be searched.\nNothing answers that.\n" || f.searched.GetExcerpts().GetSearchTerms()[0] != "x" {
		t.Errorf("%v, %q, %q, asked %v", err, out, remarks, f.searched)
	}
}

func TestRetrieveCommand_Run_JSON_IsTheAnswer(t *testing.T) {
	f := story()
	f.found = &pb.SearchContentResponse{SearchedContents: 4}
	f.contents = []*pb.RetrieveContentResponse{{Chunk: []byte("x")}}
	for want, c := range map[string]*RetrieveCommand{
		`"searchedContents":4`: {Search: []string{"x"}}, `"chunk":"eA=="`: {Content: "c1-x"}, `{"chunk":`: {Content: "c1-x", Search: []string{"x"}},
	} {
		c.Sidecar, c.Conversation = f.flags(t), "c"
		c.JSON = true
		if out, _, err := run(t, c, "80"); err != nil || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%v, %q", err, out)
		}
	}
}

func TestRetrieveCommand_Run_Refused_IsInWords(t *testing.T) {
	for reason, want := range map[string]string{
		reasonNoContent:   "CONTENT_NOT_FOUND: no such content; `sidecar sources` lists those of a conversation",
		"CONTENT_EXPIRED": "CONTENT_EXPIRED: no such content",
	} {
		f := story()
		f.absent = refusal(codes.NotFound, reason, "no such content")
		for _, c := range []*RetrieveCommand{{Content: "c1-x"}, {Content: "c1-x", Search: []string{"x"}}, {Search: []string{"x"}}} {
			c.Sidecar, c.Conversation = f.flags(t), "c"
			if _, _, err := run(t, c, "80"); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

func TestRetrieveCommand_Validate_OneWayAtATime(t *testing.T) {
	terms := []string{"x"}
	for _, c := range []*RetrieveCommand{{}, {Content: "c", Search: terms, Lines: &Stretch{}}, {Content: "c", Passages: 3}, {Chars: &Stretch{}}} {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	for _, c := range []*RetrieveCommand{{Content: "c"}, {Search: terms}, {Content: "c", Search: terms, Passages: 3}, {Content: "c", Bytes: &Stretch{}}} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}
