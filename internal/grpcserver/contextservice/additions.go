package contextservice

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// What a block adds to a variant beside its content and its plugin's name: its frame, its retention, and the spacing behind it.
const blockBytes = 32

// checkVariants refuses an append whose answer could be over the reply limit, before anything is on record. The additions count
// for both variants: what they become is not known yet.
func checkVariants(req *pb.AppendMessageRequest) error {
	if !req.GetReturnVariants() {
		return nil
	}
	size := proto.Size(req.GetMessage()) + blockBytes*len(req.GetMessage().GetParts())
	for _, a := range req.GetAdditionalContent() {
		size += proto.Size(a) + (len(a.GetParts())+2)*(blockBytes+len(a.GetPlugin()))
	}
	if most := 2*size + coordinatesBytes; most > paging.DefaultReplyBytes {
		return conversation.Errorf(conversation.ReplyTooLarge,
			"the variants could have %d bytes together, and an answer may have %d: append without return_variants", most, paging.DefaultReplyBytes)
	}
	return nil
}

// fromExtra takes what comes with a message.
func fromExtra(m schema.Extended) engine.AppendExtra {
	return engine.AppendExtra{
		Additions: convert.Each(m.GetAdditionalContent(), fromAddition),
		Override:  fromOverride(m.GetExpirationOverride()),
	}
}

func fromAddition(a *pb.AdditionalContent) conversation.Addition {
	return conversation.Addition{
		Plugin:    a.GetPlugin(),
		Header:    a.GetHeader(),
		Display:   a.GetDisplayOnCurrentMessage(),
		Retention: fromSaving(a),
		Parts:     convert.Each(a.GetParts(), convert.FromPart),
	}
}

func fromSaving(a *pb.AdditionalContent) conversation.Retention {
	switch save := a.GetSaveToChatHistory().(type) {
	case *pb.AdditionalContent_Always:
		return conversation.Retention{Kind: conversation.RetentionPermanent}
	case *pb.AdditionalContent_KeepLast:
		return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: save.KeepLast}
	default:
		return conversation.Retention{}
	}
}

func fromOverride(o *pb.ExpirationOverride) *conversation.ExpirationOverride {
	if o == nil {
		return nil
	}
	return &conversation.ExpirationOverride{
		Expiration: conversation.Expiration{
			Turns:            o.Turns,
			Mode:             conversation.ExpirationMode(o.GetMode()),
			CompactMode:      conversation.CompactMode(o.GetCompactMode()),
			CompactLength:    o.CompactLength,
			CompactPromptID:  o.GetCompactPromptId(),
			PreserveOriginal: o.PreserveOriginalContent,
		},
		Disable: o.GetDisableExpiration(),
	}
}
