package conversationservice

import (
	"encoding/hex"
	"math"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func toManifest(m conversation.Manifest) *pb.Manifest {
	return &pb.Manifest{
		Id:               convert.BuildID(m.Seq),
		Turn:             m.Turn,
		Format:           pb.ContextFormat(m.Format),
		Model:            m.Model,
		MessageCount:     m.MessageCount,
		EditSeq:          m.EditSeq,
		WindowStartIndex: m.Window.Start,
		BudgetTokens:     m.Budget,
		TotalTokens:      totalTokens(&m),
		Counter:          m.Counter,
		Factor:           m.Factor,
		PolicyHash:       m.PolicyHash,
		RendererVersion:  m.RendererVersion,
		ContentSha256:    hex.EncodeToString(m.SHA256[:]),
		CreateTime:       convert.ToTime(m.Time),
		Revision:         m.Revision,
	}
}

// totalTokens is what the engine reports as the total of a build: everything sent, times the factor, rounded up. The factors'
// decimal steps are not exact in binary, hence the slack.
func totalTokens(m *conversation.Manifest) int64 {
	product := float64(m.Tokens+m.FixedTokens) * m.Factor
	return int64(math.Ceil(product * (1 - 1e-9)))
}
