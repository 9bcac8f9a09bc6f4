package schema

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// expiring holds the settings that an expiration and an override of one have in common.
type expiring interface {
	comparable
	GetMode() pb.ExpirationMode
	GetCompactMode() pb.CompactMode
	GetCompactPromptId() string
}

// Expiration are the rules of an expiration.
func Expiration() rules.Table[*pb.Expiration] {
	return append(settingRules(
		func(e *pb.Expiration) *int32 { return e.Turns },
		func(e *pb.Expiration) *int32 { return e.CompactLength },
	),
		rules.Anything[*pb.Expiration]("preserve_original_content")).OutputOnly("source")
}

// ExpirationOverride are the rules of an override of expirations.
func ExpirationOverride() rules.Table[*pb.ExpirationOverride] {
	return append(settingRules(
		func(e *pb.ExpirationOverride) *int32 { return e.Turns },
		func(e *pb.ExpirationOverride) *int32 { return e.CompactLength },
	),
		rules.Anything[*pb.ExpirationOverride]("preserve_original_content"),
		rules.Anything[*pb.ExpirationOverride]("disable_expiration"))
}

func settingRules[M expiring](turns, length func(M) *int32) rules.Table[M] {
	return rules.Table[M]{
		rules.OptionalNumber("turns", rules.NumberRange(0, 1_000_000), turns),
		rules.Enum("mode", M.GetMode),
		rules.Enum("compact_mode", M.GetCompactMode),
		rules.OptionalNumber("compact_length", rules.NumberRange(1, 1_000_000), length),
		rules.Text("compact_prompt_id", OptionalNameLimit(), M.GetCompactPromptId),
	}
}
