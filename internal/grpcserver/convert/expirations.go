package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// FromExpiration takes a message that sets nothing for none. The source is the engine's to say.
func FromExpiration(e *pb.Expiration) *conversation.Expiration {
	if e == nil {
		return nil
	}
	out := conversation.Expiration{
		Turns:            e.Turns,
		Mode:             conversation.ExpirationMode(e.GetMode()),
		CompactMode:      conversation.CompactMode(e.GetCompactMode()),
		CompactLength:    e.CompactLength,
		CompactPromptID:  e.GetCompactPromptId(),
		PreserveOriginal: e.PreserveOriginalContent,
	}
	if out == (conversation.Expiration{}) {
		return nil
	}
	return &out
}

// ToExpiration returns nil for what sets nothing.
func ToExpiration(e *conversation.Expiration) *pb.Expiration {
	if e == nil || *e == (conversation.Expiration{}) {
		return nil
	}
	return &pb.Expiration{
		Turns:                   e.Turns,
		Mode:                    pb.ExpirationMode(e.Mode),
		CompactMode:             pb.CompactMode(e.CompactMode),
		CompactLength:           e.CompactLength,
		CompactPromptId:         e.CompactPromptID,
		PreserveOriginalContent: e.PreserveOriginal,
		Source:                  pb.ExpirationSource(e.Source),
	}
}
