package isolation

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestUpdate_Actor_IsWrittenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openMemory(t))
	record := pb.NewConversationServiceClient(w.conn)
	w.converse(t, operator, "c", false)
	set := func(token, actor string) error {
		_, err := record.UpdateConversation(as(t.Context(), token), parse(t, `{"conversation":{"id":"c","actorId":"`+actor+`"},"updateMask":"actorId"}`, &pb.UpdateConversationRequest{}))
		return err
	}
	seen := func(token string) error {
		_, err := record.GetConversation(as(t.Context(), token), &pb.GetConversationRequest{ConversationId: "c"})
		return err
	}
	if err := seen(alice); status.Code(err) != codes.NotFound {
		t.Errorf("before it is alice's: %v", err)
	}
	must(t, set(operator, "alice"))
	must(t, set(operator, "alice"))
	for _, other := range []string{"bob", ""} {
		if err := set(operator, other); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "actor_id is written once") {
			t.Errorf("made %q's: %v", other, err)
		}
	}
	if err := seen(alice); err != nil {
		t.Errorf("once it is alice's: %v", err)
	}
	if err := seen(bob); status.Code(err) != codes.NotFound {
		t.Errorf("bob: %v", err)
	}
}

// TestList_BesideManyOfOthers_TellsNothingOfThem: neither a page nor its token says what else there is.
func TestList_BesideManyOfOthers_TellsNothingOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openMemory(t))
	record := pb.NewConversationServiceClient(w.conn)
	create := func(token, id string) {
		_, err := record.CreateConversation(as(t.Context(), token), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id}})
		must(t, err)
	}
	for n := range 40 {
		create(bob, fmt.Sprintf("b%02d", n))
	}
	create(alice, "b20-of-alice")
	create(alice, "z-of-alice")
	request := &pb.ListConversationsRequest{PageSize: 1}
	for _, want := range []string{"b20-of-alice", "z-of-alice"} {
		page, err := record.ListConversations(as(t.Context(), alice), request)
		must(t, err)
		if got := page.GetConversations(); len(got) != 1 || got[0].GetId() != want {
			t.Fatalf("a page has %v, want %s", got, want)
		}
		if token, err := base64.RawURLEncoding.DecodeString(page.GetNextPageToken()); err != nil || len(token) > 0 && !strings.Contains(string(token), want) {
			t.Errorf("the page goes on behind %q, %v", token, err)
		}
		request.PageToken = page.GetNextPageToken()
	}
	if request.GetPageToken() != "" {
		page, err := record.ListConversations(as(t.Context(), alice), request)
		if err != nil || len(page.GetConversations()) > 0 || page.GetNextPageToken() != "" {
			t.Errorf("behind the last page: %v, %v", page, err)
		}
	}
}

// TestCreate_ForAnActor_MustBeOneOfTheCredentials: what a credential with actors makes is one of theirs.
func TestCreate_ForAnActor_MustBeOneOfTheCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openMemory(t))
	record := pb.NewConversationServiceClient(w.conn)
	create := func(token, id, actor string) (string, error) {
		made, err := record.CreateConversation(as(t.Context(), token), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, ActorId: actor}})
		return made.GetConversation().GetActorId(), err
	}
	if actor, err := create(alice, "a", ""); err != nil || actor != "alice" {
		t.Errorf("without an actor: %q, %v", actor, err)
	}
	if _, err := create(alice, "b", "bob"); status.Code(err) != codes.PermissionDenied {
		t.Errorf("for bob: %v", err)
	}
	appends := parse(t, `{"conversationId":"d","message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}`, &pb.AppendMessageRequest{})
	_, err := pb.NewContextServiceClient(w.conn).AppendMessage(as(t.Context(), alice), appends)
	must(t, err)
	got, err := record.GetConversation(as(t.Context(), operator), &pb.GetConversationRequest{ConversationId: "d"})
	if err != nil || got.GetConversation().GetActorId() != "alice" {
		t.Errorf("by an append: %v, %v", got, err)
	}
	both := "pal_both"
	w.admitActors(t, both, "[alice, bob]")
	eventually(t, func() bool {
		_, err := create(both, "e", "bob")
		return err == nil || status.Code(err) == codes.AlreadyExists
	})
	if _, err := create(both, "f", ""); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "several actors") {
		t.Errorf("for nobody of two: %v", err)
	}
}
