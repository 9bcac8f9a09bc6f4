package grpcserver

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func mustAppend(t *testing.T, s *sidecar, r *pb.AppendMessageRequest) *pb.AppendMessageResponse {
	t.Helper()
	out, err := s.contexts.AppendMessage(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustBuild(t *testing.T, s *sidecar, r *pb.BuildContextRequest) *pb.BuildContextResponse {
	t.Helper()
	out, err := s.contexts.BuildContext(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func textsOf(m *pb.Message) string {
	texts := make([]string, 0, len(m.GetParts()))
	for _, p := range m.GetParts() {
		texts = append(texts, p.GetText())
	}
	return strings.Join(texts, "|")
}

func TestServer_AppendMessage_ReturnsVariants(t *testing.T) {
	s := start(t, realEngine(t))
	r := with(
		&pb.AdditionalContent{Plugin: "now", DisplayOnCurrentMessage: true, Parts: []*pb.Part{textPart("shown")}},
		&pb.AdditionalContent{Plugin: "later", SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 2}, Parts: []*pb.Part{textPart("saved")}},
	)
	r.RequestId, r.ReturnVariants = "r", true
	for _, duplicate := range []bool{false, true} {
		got := mustAppend(t, s, r)
		if got.GetReceipt().GetDuplicate() != duplicate || textsOf(got.GetDisplayMessage()) != "x|shown|\n\n" || textsOf(got.GetPersistentMessage()) != "x|saved|\n\n" {
			t.Errorf("got %v", got)
		}
		if p := got.GetPersistentMessage().GetParts()[1]; p.GetPlugin() != "later" || p.GetRetention().GetKeepLast() != 2 || p.GetVariant() != pb.PartVariant_PART_VARIANT_PERSISTENT_ONLY {
			t.Errorf("part %v", p)
		}
	}
	r.RequestId, r.ReturnVariants = "", false
	if got := mustAppend(t, s, r); got.GetDisplayMessage() != nil || got.GetPersistentMessage() != nil {
		t.Errorf("variants that nobody asked for: %v", got)
	}
}

// TestServer_AppendMessage_VariantsNeverPassTheReplyLimit appends as much as is let through, and holds the answer to the limit.
func TestServer_AppendMessage_VariantsNeverPassTheReplyLimit(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	var pieces []*pb.AdditionalContent
	for i := range 64 {
		a := addition()
		a.Plugin, a.Header, a.SaveToChatHistory = strings.Repeat("p", 250)+strconv.Itoa(i), "h", &pb.AdditionalContent_KeepLast{KeepLast: 1_000_000}
		for range 64 {
			a.Parts = append(a.Parts, textPart(""))
		}
		pieces = append(pieces, a)
	}
	r := with(pieces...)
	r.ReturnVariants = true
	refused := 0
	for _, size := range []int{100_000, 300_000, 500_000, 700_000, 1_000_000, 1_200_000, 2_000_000} {
		r.Message = userText(strings.Repeat("x", size))
		got, err := s.contexts.AppendMessage(ctx, r)
		if err != nil {
			wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
			refused++
			continue
		}
		if n := proto.Size(got); n > paging.DefaultReplyBytes {
			t.Errorf("%d bytes of text: an answer of %d", size, n)
		}
	}
	list, err := s.conversations.CountMessages(ctx, &pb.CountMessagesRequest{ConversationId: "c"})
	if err != nil || refused == 0 || int(list.GetMessageCount()) != 7-refused {
		t.Errorf("%d refused, %v, %v", refused, list, err)
	}
}

func TestServer_ActionPolicies_ByKey(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	put := func(p *pb.ActionPolicy) {
		t.Helper()
		if got, err := s.policies.PutActionPolicy(ctx, &pb.PutActionPolicyRequest{Policy: p, RequestId: p.String()}); err != nil || !proto.Equal(got.GetPolicy(), p) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	read := &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: "read"}, Expiration: &pb.Expiration{Turns: new(int32(1)), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE}}
	put(read)
	put(&pb.ActionPolicy{Key: &pb.ActionPolicy_ActionId{ActionId: "read"}, DefaultCompactPromptId: "default"})
	put(&pb.ActionPolicy{Key: &pb.ActionPolicy_AgentActionId{AgentActionId: "read"}})
	got, err := s.policies.GetActionPolicy(ctx, &pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ToolName{ToolName: "read"}})
	if err != nil || !proto.Equal(got.GetPolicy(), read) {
		t.Errorf("got %v, %v", got, err)
	}
	seen := 0
	for page := (&pb.ListActionPoliciesRequest{PageSize: 1}); ; {
		list, err := s.policies.ListActionPolicies(ctx, page)
		if err != nil || len(list.GetPolicies()) != 1 {
			t.Fatalf("page %v, %v", list, err)
		}
		seen++
		if page.PageToken = list.GetNextPageToken(); page.PageToken == "" {
			break
		}
		_, err = s.policies.ListPrompts(ctx, &pb.ListPromptsRequest{PageToken: page.GetPageToken()})
		wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	}
	if seen != 3 {
		t.Errorf("listed %d", seen)
	}
	gone := &pb.DeleteActionPolicyRequest{Key: &pb.DeleteActionPolicyRequest_ToolName{ToolName: "read"}}
	if _, err := s.policies.DeleteActionPolicy(ctx, gone); err != nil {
		t.Fatal(err)
	}
	_, err = s.policies.DeleteActionPolicy(ctx, gone)
	wantReason(t, err, codes.NotFound, "ACTION_POLICY_NOT_FOUND")
	_, err = s.policies.GetActionPolicy(ctx, &pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ToolName{ToolName: "read"}})
	wantReason(t, err, codes.NotFound, "ACTION_POLICY_NOT_FOUND")
}

func TestServer_Prompts_CountTheirVersions(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	p := &pb.Prompt{Id: "p", Template: "Shorten {{content}}.", Version: 99}
	for want := int32(1); want <= 2; want++ {
		got, err := s.policies.PutPrompt(ctx, &pb.PutPromptRequest{Prompt: p})
		if err != nil || got.GetPrompt().GetVersion() != want || got.GetPrompt().GetTemplate() != p.GetTemplate() {
			t.Fatalf("%v, %v", got, err)
		}
	}
	got, err := s.policies.GetPrompt(ctx, &pb.GetPromptRequest{Id: "p"})
	if err != nil || got.GetPrompt().GetVersion() != 2 {
		t.Errorf("%v, %v", got, err)
	}
	list, err := s.policies.ListPrompts(ctx, &pb.ListPromptsRequest{})
	if err != nil || len(list.GetPrompts()) != 1 || list.GetNextPageToken() != "" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := s.policies.DeletePrompt(ctx, &pb.DeletePromptRequest{Id: "p"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.policies.DeletePrompt(ctx, &pb.DeletePromptRequest{Id: "p"})
	wantReason(t, err, codes.NotFound, "PROMPT_NOT_FOUND")
	_, err = s.policies.GetPrompt(ctx, &pb.GetPromptRequest{Id: "p"})
	wantReason(t, err, codes.NotFound, "PROMPT_NOT_FOUND")
}

// prompting is an engine with a thousand prompts of the largest kind.
type prompting struct{ Engine }

func (prompting) Prompts(_ context.Context, _, after string, limit int) (list []conversation.Prompt, next string, err error) {
	at := 0
	if after != "" {
		at, _ = strconv.Atoi(after)
	}
	template := "{{content}}" + strings.Repeat("x", 32_757)
	for ; at < 1000 && len(list) < limit; at++ {
		list = append(list, conversation.Prompt{ID: strconv.Itoa(at + 1), Template: template})
	}
	if at < 1000 {
		next = list[len(list)-1].ID
	}
	return list, next, nil
}

func TestServer_ListPrompts_PagesEndAtTheReplyLimit(t *testing.T) {
	s, ctx := start(t, prompting{}), t.Context()
	seen, pages := 0, 0
	for page := (&pb.ListPromptsRequest{PageSize: 1000}); pages == 0 || page.GetPageToken() != ""; pages++ {
		list, err := s.policies.ListPrompts(ctx, page)
		if err != nil {
			t.Fatal(err)
		}
		if n := proto.Size(list); n > paging.DefaultReplyBytes {
			t.Errorf("a page of %d bytes", n)
		}
		seen += len(list.GetPrompts())
		page.PageToken = list.GetNextPageToken()
	}
	if seen != 1000 || pages < 9 {
		t.Errorf("%d prompts on %d pages", seen, pages)
	}
}

// lifecycle is a conversation with a result that was compacted, one that was removed, one that was erased, and blocks of plugins.
func lifecycle(t *testing.T, s *sidecar, id string) {
	t.Helper()
	if _, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: &pb.Policy{
		Rewrite:    &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER, MaxDeferralTurns: new(int32(3))},
		Expiration: &pb.ExpirationPolicy{Enabled: new(true), Results: &pb.Expiration{Turns: new(int32(50)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT}},
		Retention:  &pb.RetentionPolicy{AllInputs: new(false)},
	}}}); err != nil {
		t.Fatal(err)
	}
	asked := with(addition(textPart("only now")), saving(func(a *pb.AdditionalContent) {
		a.Plugin, a.Header, a.SaveToChatHistory = "q", "Notes", &pb.AdditionalContent_KeepLast{KeepLast: 1}
	}))
	asked.ConversationId = id
	mustAppend(t, s, asked)
	mustBuild(t, s, &pb.BuildContextRequest{ConversationId: id})
	for i, e := range []*pb.Expiration{
		{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactLength: new(int32(5))},
		{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE},
		{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, PreserveOriginalContent: new(false)},
	} {
		call, text := "call-"+strconv.Itoa(i), strings.Repeat(strconv.Itoa(i)+" line\n", 1000)
		mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{callPart(call, "read")}}})
		result := &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{
			resultPart(&pb.ToolResult{CallId: call, Expiration: e, Output: &pb.ToolResult_Json{Json: strconv.Quote(text)}}),
		}}}
		if i == 0 { // a plugin's words stand in the message of a tool too
			result.AdditionalContent = []*pb.AdditionalContent{saving(func(a *pb.AdditionalContent) {
				a.SaveToChatHistory = &pb.AdditionalContent_Always{Always: &pb.Always{}}
			})}
		}
		mustAppend(t, s, result)
	}
	for range 2 {
		mustAppend(t, s, goOn(id))
		mustBuild(t, s, &pb.BuildContextRequest{ConversationId: id, Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC})
	}
}

// goOn is an append of an input that carries retention.
func goOn(id string) *pb.AppendMessageRequest {
	return &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{kept(textPart("go on"), permanent())}}}
}

func TestServer_ExportImport_LifecycleRoundTripIsTheIdentity(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	lifecycle(t, s, "original")
	first := export(t, s, "original")
	for _, want := range []string{
		`"expiration":{`, `"source":"EXPIRATION_SOURCE_EXPLICIT"`, `"retention":{"permanent":true}`, `"retention":{"keepLast":1}`, `"plugin":"q"`,
		`"variant":"PART_VARIANT_DISPLAY_ONLY"`, `"erased":[{`, `"place":{`, `"seenBefore":`, `"rewrite":{"mode":"REWRITE_MODE_EAGER"`,
		`"EDIT_PARTS"`, `"EDIT_MASK"`, `"EDIT_REMOVE"`,
	} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("the export has no %s", want)
		}
	}
	if _, err := importAs(ctx, s, "copy", first, 1000); err != nil {
		t.Fatal(err)
	}
	if second := export(t, s, "copy"); !bytes.Equal(first, second) {
		t.Errorf("the copy exports to other bytes:\n%s", firstDifference(first, second))
	}
	req := &pb.BuildContextRequest{ConversationId: "original", Format: pb.ContextFormat_CONTEXT_FORMAT_GEMINI, DryRun: true}
	one := mustBuild(t, s, req)
	req.ConversationId = "copy"
	if other := mustBuild(t, s, req); one.GetRendered().GetContentSha256() != other.GetRendered().GetContentSha256() {
		t.Error("the copy builds another context")
	}
}

func TestServer_ImportConversation_BadLifecycleCreatesNothing(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	lifecycle(t, s, "c")
	good := string(export(t, s, "c"))
	for name, c := range map[string]struct{ old, new string }{
		"turns":                {`"turns":0`, `"turns":1000001`},
		"policy's turns":       {`"turns":50`, `"turns":-1`},
		"policy's erasing":     {`"turns":50`, `"turns":50,"preserveOriginalContent":false`},
		"retention":            {`"keepLast":1`, `"keepLast":1000001`},
		"long plugin":          {`"plugin":"q"`, `"plugin":"` + strings.Repeat("x", long) + `"`},
		"no plugin":            {`"plugin":"p",`, ``},
		"plugin of the model":  {`"tokens":`, `"plugin":"x","tokens":`},
		"retention of a model": {`"role":"ROLE_USER"`, `"role":"ROLE_ASSISTANT"`},
		"deferral":             {`"maxDeferralTurns":3`, `"maxDeferralTurns":1001`},
		"rewrite":              {`REWRITE_MODE_EAGER`, `REWRITE_MODE_NEVER`},
		"erased and there":     {`"json":"",`, `"json":"0",`},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		if name == "plugin of the model" {
			changed = strings.Replace(good, `{"toolCall":`, `{"plugin":"x","toolCall":`, 1)
		}
		if changed == good {
			t.Errorf("%s: the case changes nothing", name)
		}
		_, err := importAs(ctx, s, "new", []byte(changed), 1<<20)
		if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); !strings.Contains(v["chunk"], "line ") {
			t.Errorf("%s: violations %v", name, v)
		}
	}
}

func TestServer_ExpandMessage_RestoresAndReturns(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	lifecycle(t, s, "c")
	compacted := &pb.ExpandMessageRequest{ConversationId: "c", Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 2}, RequestId: "r"}
	for _, duplicate := range []bool{false, true} {
		got, err := s.contexts.ExpandMessage(ctx, compacted)
		if err != nil {
			t.Fatal(err)
		}
		if got.GetDuplicate() != duplicate || !strings.HasPrefix(got.GetMessage().GetParts()[0].GetToolResult().GetJson(), `"0 line`) || got.GetTotalChars() == 0 ||
			!duplicate && (len(got.GetEvents()) == 0 || got.GetRewriteTokens() == 0) || got.GetNextPageToken() != "" {
			t.Errorf("got %v", got)
		}
	}
	fresh := proto.CloneOf(compacted)
	fresh.RequestId = ""
	fresh.Target = &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 8}
	_, err := s.contexts.ExpandMessage(ctx, fresh)
	wantReason(t, err, codes.FailedPrecondition, "NOT_EDITED")
	fresh.Target = &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 6}
	_, err = s.contexts.ExpandMessage(ctx, fresh)
	wantReason(t, err, codes.FailedPrecondition, "ORIGINAL_ERASED")
	fresh.Target = &pb.ExpandMessageRequest_SummaryId{SummaryId: "s1"}
	_, err = s.contexts.ExpandMessage(ctx, fresh)
	wantReason(t, err, codes.NotFound, "SUMMARY_NOT_FOUND")
	fresh.Target = &pb.ExpandMessageRequest_MessageId{MessageId: "nobody"}
	_, err = s.contexts.ExpandMessage(ctx, fresh)
	wantReason(t, err, codes.NotFound, "MESSAGE_NOT_FOUND")
}

func TestServer_ExpandMessage_PagesJoinToTheWhole(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	text := strings.Repeat("0123456789 ä\n", 2000)
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)})
	for name, req := range map[string]*pb.ExpandMessageRequest{
		"tokens": expand(func(r *pb.ExpandMessageRequest) { r.MaxTokens = 1000 }),
		"bytes":  expand(func(r *pb.ExpandMessageRequest) { r.Mode, r.MaxReplyBytes = 2, new(int32(10_000)) }),
	} {
		var got strings.Builder
		pages := 0
		for req.RequestId = "r"; pages == 0 || req.GetPageToken() != ""; pages++ {
			page, err := s.contexts.ExpandMessage(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			piece := textsOf(page.GetMessage())
			if r := page.GetReturned(); int(r.GetEndIndex()-r.GetStartIndex()) != len([]rune(piece)) || page.GetTotalChars() != int64(len([]rune(text))) || proto.Size(page) > admission.New(0).ReplyLimit(req.MaxReplyBytes) {
				t.Errorf("%s: returned %v of %d, %d bytes", name, r, page.GetTotalChars(), proto.Size(page))
			}
			got.WriteString(piece)
			req.PageToken = page.GetNextPageToken()
			refuseElsewhere(t, s, req)
		}
		if got.String() != text || pages < 3 {
			t.Errorf("%s: %d pages, %d of %d bytes", name, pages, got.Len(), len(text))
		}
	}
}

// refuseElsewhere uses a page's token for other questions.
func refuseElsewhere(t *testing.T, s *sidecar, req *pb.ExpandMessageRequest) {
	t.Helper()
	if req.GetPageToken() == "" {
		return
	}
	for _, change := range []func(*pb.ExpandMessageRequest){
		func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 1} },
		func(r *pb.ExpandMessageRequest) { r.ConversationId = "d" },
		func(r *pb.ExpandMessageRequest) { r.MaxTokens = 7 },
		func(r *pb.ExpandMessageRequest) { r.Range = charsOf(0, 9).GetRange() },
	} {
		other := proto.CloneOf(req)
		change(other)
		_, err := s.contexts.ExpandMessage(t.Context(), other)
		if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["page_token"] == "" {
			t.Errorf("violations %v", v)
		}
	}
}

func TestServer_ExpandMessage_ReplyOverLimitChangesNothing(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	lifecycle(t, s, "c")
	before := export(t, s, "c")
	small := &pb.ExpandMessageRequest{ConversationId: "c", Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 2}, MaxReplyBytes: new(int32(1000))}
	_, err := s.contexts.ExpandMessage(ctx, small)
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
	if !bytes.Equal(before, export(t, s, "c")) {
		t.Error("a refused expansion changed the conversation")
	}
}

// expanding is an engine that keeps what it was asked, and answers with an empty page.
type expanding struct {
	Engine
	asked *engine.ExpandRequest
}

func (e expanding) Expand(_ context.Context, r engine.ExpandRequest) (*engine.ExpandResult, error) {
	*e.asked = r
	return &engine.ExpandResult{Next: new(int32(7))}, nil
}

func TestServer_ExpandMessage_AsksWhatWasAsked(t *testing.T) {
	asked := engine.ExpandRequest{}
	s, ctx := start(t, expanding{asked: &asked}), t.Context()
	req := summary("s12")
	req.PageSize, req.RequestId = 3, "r"
	page, err := s.contexts.ExpandMessage(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if !asked.ReturnOnly || asked.Summary != 12 || asked.Limit != 3 || asked.Cursor != nil || asked.Request.ID != "r" || asked.MaxBytes != paging.DefaultReplyBytes-paging.PageTokenBytes {
		t.Errorf("asked %+v", asked)
	}
	req.PageToken, req.PageSize = page.GetNextPageToken(), 0
	if _, err := s.contexts.ExpandMessage(ctx, req); err != nil {
		t.Fatal(err)
	}
	if asked.Cursor == nil || *asked.Cursor != 7 || asked.Limit != 100 || asked.Request.ID != "" {
		t.Errorf("the next page asked %+v", asked)
	}
	for unit, req := range map[engine.RangeUnit]*pb.ExpandMessageRequest{
		engine.RangeNone:  expand(func(*pb.ExpandMessageRequest) {}),
		engine.RangeChars: charsOf(2, 4),
		engine.RangeLines: expand(func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Lines{Lines: &pb.Span{StartIndex: 2, EndIndex: new(int64(4))}}
		}),
		engine.RangeItems: expand(func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Items{Items: &pb.Span{StartIndex: 2, EndIndex: new(int64(4))}}
		}),
	} {
		if _, err := s.contexts.ExpandMessage(ctx, req); err != nil {
			t.Fatal(err)
		}
		ranged := unit != engine.RangeNone
		if asked.Unit != unit || asked.ReturnOnly != ranged || ranged && asked.Range != (conversation.Range{First: 2, End: 4}) || asked.Index == nil {
			t.Errorf("unit %d: asked %+v", unit, asked)
		}
	}
	byID := expand(func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_MessageId{MessageId: "id"} })
	if _, err := s.contexts.ExpandMessage(ctx, byID); err != nil || asked.MessageID != "id" || asked.Index != nil || asked.ReturnOnly {
		t.Errorf("asked %+v, %v", asked, err)
	}
}
