package convert

import (
	"crypto/sha256"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func said(s string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: s}}}}
}

func TestFromRequest_Digest_CoversEverythingButTheID(t *testing.T) {
	digest := func(r identified) [32]byte {
		t.Helper()
		before := proto.Clone(r)
		request := FromRequest(r)
		if request.ID != r.GetRequestId() || !proto.Equal(before, r) {
			t.Fatalf("%+v; the request is now %v", request, r)
		}
		return request.Digest
	}
	base := func() *pb.AppendMessageRequest {
		return &pb.AppendMessageRequest{ConversationId: "c", Message: said("x"), RequestId: "r"}
	}
	want := digest(base())
	other := base()
	other.RequestId = "another"
	if digest(other) != want {
		t.Error("the id is in the digest")
	}
	for name, change := range map[string]func(*pb.AppendMessageRequest){
		"text":  func(r *pb.AppendMessageRequest) { r.Message = said("y") },
		"index": func(r *pb.AppendMessageRequest) { r.ExpectedIndex = new(int32(0)) },
		"key":   func(r *pb.AppendMessageRequest) { r.ConversationId = "d" },
	} {
		changed := base()
		change(changed)
		if digest(changed) == want {
			t.Errorf("%s is not in the digest", name)
		}
	}
	if digest(&pb.DeletePromptRequest{Id: "x", RequestId: "r"}) == digest(&pb.DeleteModelProfileRequest{Model: "x", RequestId: "r"}) {
		t.Error("the RPC is not in the digest")
	}
	none := base()
	none.RequestId = ""
	if digest(none) != [32]byte{} {
		t.Error("a digest without an id")
	}
}

// TestFromRequest_RPC_IsTheRequests: outcomes on record are found by the RPC's name and by the digest, so neither may ever change.
func TestFromRequest_RPC_IsTheRequests(t *testing.T) {
	for want, req := range map[string]identified{
		"AppendMessage":       &pb.AppendMessageRequest{ConversationId: "c", RequestId: "r"},
		"BatchAppendMessages": &pb.BatchAppendMessagesRequest{ConversationId: "c", RequestId: "r"},
		"StoreContent":        &pb.StoreContentHeader{ConversationId: "c", RequestId: "r"},
	} {
		request := FromRequest(req)
		if request.RPC != want || request.Digest != sha256.Sum256(append([]byte(want), "\x00\n\x01c"...)) {
			t.Errorf("%s: %+v", want, request)
		}
	}
}
