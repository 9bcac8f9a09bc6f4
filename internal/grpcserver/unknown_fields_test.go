package grpcserver

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestRuleBook_UnknownFields_AreRefused: a request of a newer client is not obeyed by half, wherever the field stands. Its value is not told.
func TestRuleBook_UnknownFields_AreRefused(t *testing.T) {
	const secret = "epl4nted-s3cret"
	newer := func(m proto.Message) {
		m.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 4711, protowire.BytesType), secret))
	}
	request := func() *pb.AppendMessageRequest {
		return &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{
			Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: "a"}}, {Content: &pb.Part_Text{Text: "b"}}},
		}}
	}
	book := allRules()
	if err := book.Validate(request()); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*pb.AppendMessageRequest){
		"":                 func(r *pb.AppendMessageRequest) { newer(r) },
		"message":          func(r *pb.AppendMessageRequest) { newer(r.Message) },
		"message.parts[1]": func(r *pb.AppendMessageRequest) { newer(r.Message.Parts[1]) },
	} {
		r := request()
		spoil(r)
		err := book.Validate(r)
		var e *conversation.Error
		if !errors.As(err, &e) || e.Kind != conversation.InvalidField || len(e.Violations) != 1 {
			t.Errorf("%q: got %v", field, err)
		} else if v := e.Violations[0]; v.Field != field || !strings.Contains(v.Text, "field 4711") || strings.Contains(v.Text+err.Error(), secret) {
			t.Errorf("%q: got %+v", field, v)
		}
	}
}
