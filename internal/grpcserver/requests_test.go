package grpcserver

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestRequestOf_Digest_CoversEverythingButTheID(t *testing.T) {
	digest := func(rpc string, r *pb.AppendMessageRequest) [32]byte {
		t.Helper()
		before := proto.CloneOf(r)
		request, err := requestOf(rpc, r, &r.RequestId)
		if err != nil || request.ID != r.GetRequestId() || request.RPC != rpc || !proto.Equal(before, r) {
			t.Fatalf("%+v, %v; the request is now %v", request, err, r)
		}
		return request.Digest
	}
	base := func() *pb.AppendMessageRequest {
		return &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x"), RequestId: "r"}
	}
	want := digest("A", base())
	other := base()
	other.RequestId = "another"
	if digest("A", other) != want {
		t.Error("the id is in the digest")
	}
	for name, change := range map[string]func(*pb.AppendMessageRequest){
		"text":  func(r *pb.AppendMessageRequest) { r.Message = userText("y") },
		"index": func(r *pb.AppendMessageRequest) { r.ExpectedIndex = pointer(int32(0)) },
		"key":   func(r *pb.AppendMessageRequest) { r.ConversationId = "d" },
	} {
		changed := base()
		change(changed)
		if digest("A", changed) == want {
			t.Errorf("%s is not in the digest", name)
		}
	}
	if digest("B", base()) == want {
		t.Error("the RPC is not in the digest")
	}
	none := base()
	none.RequestId = ""
	if digest("A", none) != [32]byte{} {
		t.Error("a digest without an id")
	}
}
