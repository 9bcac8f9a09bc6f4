package grpcserver

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// expiring holds the settings that an expiration and an override of one have in common.
type expiring interface {
	comparable
	GetMode() pb.ExpirationMode
	GetCompactMode() pb.CompactMode
	GetCompactPromptId() string
}

func expirationRules() table[*pb.Expiration] {
	return append(settingRules(
		func(e *pb.Expiration) *int32 { return e.Turns },
		func(e *pb.Expiration) *int32 { return e.CompactLength },
	),
		anything[*pb.Expiration]("preserve_original_content"),
		outputOnly[*pb.Expiration]("source"))
}

func overrideRules() table[*pb.ExpirationOverride] {
	return append(settingRules(
		func(e *pb.ExpirationOverride) *int32 { return e.Turns },
		func(e *pb.ExpirationOverride) *int32 { return e.CompactLength },
	),
		anything[*pb.ExpirationOverride]("preserve_original_content"),
		anything[*pb.ExpirationOverride]("disable_expiration"))
}

func settingRules[M expiring](turns, length func(M) *int32) table[M] {
	return table[M]{
		optionalNumber("turns", numberRange(0, 1_000_000), turns),
		enum("mode", M.GetMode),
		enum("compact_mode", M.GetCompactMode),
		optionalNumber("compact_length", numberRange(1, 1_000_000), length),
		text("compact_prompt_id", optionalNameLimit(), M.GetCompactPromptId),
	}
}

// fromExpiration takes a message that sets nothing for none. The source is the engine's to say.
func fromExpiration(e *pb.Expiration) *conversation.Expiration {
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

// toExpiration returns nil for what sets nothing.
func toExpiration(e *conversation.Expiration) *pb.Expiration {
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
