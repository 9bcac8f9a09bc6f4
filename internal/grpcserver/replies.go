package grpcserver

import (
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// replyLimit is the most bytes an answer may have.
func replyLimit(asked *int32) int {
	if asked == nil || *asked == 0 {
		return defaultReplyBytes
	}
	return int(*asked)
}

// checkReply refuses an answer that is over its limit. slack is what may still be added to it.
func checkReply(reply proto.Message, limit, slack int) error {
	if n := proto.Size(reply) + slack; n > limit {
		return conversation.Errorf(conversation.ReplyTooLarge,
			"the answer has %d bytes and may have %d: raise max_reply_bytes, and the client's receive limit", n, limit)
	}
	return nil
}
