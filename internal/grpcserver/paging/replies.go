package paging

import (
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// CheckReply refuses an answer that is over its limit. slack is what may still be added to it.
func CheckReply(reply proto.Message, limit, slack int) error {
	if n := proto.Size(reply) + slack; n > limit {
		return conversation.Errorf(conversation.ReplyTooLarge,
			"the answer has %d bytes and may have %d: raise max_reply_bytes, and the client's receive limit; the sidecar's memory limit bounds it too", n, limit)
	}
	return nil
}

// ReplyBytes is the field that says how large an answer may be.
func ReplyBytes[M any](get func(M) *int32) rules.Rule[M] {
	return rules.OptionalNumber("max_reply_bytes", rules.NumberRange(0, MaxReplyBytes), get).Says(rules.Grouped(DefaultReplyBytes) + " (3.5 MiB) by default")
}

// ElementBytes is what an element of a list adds to an answer: itself, its tag and its length.
func ElementBytes(m proto.Message) int { return proto.Size(m) + 6 }
