package isolation

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// remembered is a world in which alice and bob have a conversation and a memory each, and another namespace has an alice too.
func remembered(t *testing.T) (*world, pb.MemoryServiceClient) {
	t.Helper()
	w := newWorld(t, openMemory(t))
	memories := pb.NewMemoryServiceClient(w.conn)
	for _, who := range []struct{ token, conversation, actor string }{
		{alice, "of-alice", "alice"}, {bob, "of-bob", "bob"}, {stranger, "of-alice", "alice"}, {operator, "of-nobody", ""},
	} {
		_, err := pb.NewConversationServiceClient(w.conn).CreateConversation(as(t.Context(), who.token),
			&pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: who.conversation, ActorId: who.actor, AgentId: "helper"}})
		must(t, err)
		if who.actor == "" {
			continue
		}
		_, err = memories.AddMemory(as(t.Context(), who.token), parse(t, `{"conversationId":"`+who.conversation+`","text":"canary of `+who.token+`"}`, &pb.AddMemoryRequest{}))
		must(t, err)
	}
	return w, memories
}

// TestMemories_OfActors_AreSeenByThemselvesAndOperators: by every way that names somebody's memories.
func TestMemories_OfActors_AreSeenByThemselvesAndOperators(t *testing.T) {
	t.Parallel()
	_, memories := remembered(t)
	list := func(token, request string) (string, codes.Code) {
		page, err := memories.ListMemories(as(t.Context(), token), parse(t, request, &pb.ListMemoriesRequest{}))
		var texts []string
		for _, m := range page.GetMemories() {
			texts = append(texts, strings.TrimPrefix(m.GetText(), "canary of "))
		}
		return strings.Join(texts, " "), status.Code(err)
	}
	const ofAlice, ofBob, ofNobody, actor = `{"conversationId":"of-alice"}`, `{"conversationId":"of-bob"}`, `{"conversationId":"of-nobody"}`, `{"actorId":"alice"}`
	for _, c := range []struct {
		token, request, want string
		code                 codes.Code
	}{
		{alice, ofAlice, alice, codes.OK},
		{agent, ofAlice, alice, codes.OK},
		{operator, ofAlice, alice, codes.OK},
		{operator, actor, alice, codes.OK},
		{stranger, ofAlice, stranger, codes.OK},
		{stranger, actor, stranger, codes.OK},
		{bob, ofBob, bob, codes.OK},
		{bob, ofAlice, "", codes.NotFound},
		{alice, ofBob, "", codes.NotFound},
		{stranger, ofBob, "", codes.NotFound},
		{alice, ofNobody, "", codes.NotFound},
		{agent, ofNobody, "", codes.FailedPrecondition},
		{alice, actor, "", codes.PermissionDenied}, // also her own
		{bob, actor, "", codes.PermissionDenied},
		{agent, actor, "", codes.PermissionDenied},
	} {
		if got, code := list(c.token, c.request); got != c.want || code != c.code {
			t.Errorf("%s asks for %s: %q, %v; want %q, %v", c.token, c.request, got, code, c.want, c.code)
		}
	}
	found, err := memories.SearchMemories(as(t.Context(), alice), &pb.SearchMemoriesRequest{ConversationId: "of-alice", Query: "canary"})
	if err != nil || len(found.GetMemories()) != 1 || !strings.HasSuffix(found.GetMemories()[0].GetText(), alice) {
		t.Errorf("alice finds %v, %v", found, err)
	}
}

// TestMemories_OfActors_AreChangedByThemselvesAndOperators: a memory whose id another actor knows stays.
func TestMemories_OfActors_AreChangedByThemselvesAndOperators(t *testing.T) {
	t.Parallel()
	_, memories := remembered(t)
	page, err := memories.ListMemories(as(t.Context(), alice), &pb.ListMemoriesRequest{Of: &pb.ListMemoriesRequest_ConversationId{ConversationId: "of-alice"}})
	must(t, err)
	id := page.GetMemories()[0].GetId()
	remove := func(token, whose string) (bool, codes.Code) {
		reply, err := memories.DeleteMemory(as(t.Context(), token), parse(t, `{`+whose+`,"memoryId":"`+id+`"}`, &pb.DeleteMemoryRequest{}))
		return reply.GetDeleted(), status.Code(err)
	}
	for _, c := range []struct {
		token, whose string
		deleted      bool
		code         codes.Code
	}{
		{bob, `"conversationId":"of-bob"`, false, codes.OK},
		{bob, `"conversationId":"of-alice"`, false, codes.NotFound},
		{bob, `"actorId":"alice"`, false, codes.PermissionDenied},
		{alice, `"conversationId":"of-alice","scope":"MEMORY_SCOPE_SESSION"`, false, codes.OK},
		{stranger, `"actorId":"alice"`, false, codes.OK},
		{operator, `"actorId":"alice"`, true, codes.OK},
		{alice, `"conversationId":"of-alice"`, false, codes.OK},
	} {
		if deleted, code := remove(c.token, c.whose); deleted != c.deleted || code != c.code {
			t.Errorf("%s deletes by %s: %v, %v; want %v, %v", c.token, c.whose, deleted, code, c.deleted, c.code)
		}
	}
}

// TestMemories_OfAllActors_OperatorsAloneChange, and every agent of the namespace reads.
func TestMemories_OfAllActors_OperatorsAloneChange(t *testing.T) {
	t.Parallel()
	_, memories := remembered(t)
	for _, scope := range []string{"MEMORY_SCOPE_AGENT", "MEMORY_SCOPE_ORG"} {
		whose := `"conversationId":"of-alice","scope":"` + scope + `"`
		for token, want := range map[string]codes.Code{agent: codes.PermissionDenied, alice: codes.PermissionDenied, operator: codes.OK} {
			added, err := memories.AddMemory(as(t.Context(), token), parse(t, `{`+whose+`,"text":"rule"}`, &pb.AddMemoryRequest{}))
			if status.Code(err) != want {
				t.Errorf("%s adds to %s: %v", token, scope, err)
			}
			_, err = memories.DeleteMemory(as(t.Context(), token), parse(t, `{`+whose+`,"memoryId":"none"}`, &pb.DeleteMemoryRequest{}))
			if status.Code(err) != want {
				t.Errorf("%s deletes from %s: %v", token, scope, err)
			}
			if want == codes.OK && added.GetMemoryId() == "" {
				t.Errorf("%s has no id in %s", token, scope)
			}
		}
		for token, want := range map[string]int{alice: 1, bob: 1, agent: 1, stranger: 0} {
			request := parse(t, `{`+whose+`}`, &pb.ListMemoriesRequest{})
			if token == bob {
				proto.Merge(request, &pb.ListMemoriesRequest{Of: &pb.ListMemoriesRequest_ConversationId{ConversationId: "of-bob"}})
			}
			page, err := memories.ListMemories(as(t.Context(), token), request)
			if err != nil || len(page.GetMemories()) != want {
				t.Errorf("%s sees %v of %s, %v", token, page.GetMemories(), scope, err)
			}
		}
	}
}
