package replay

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// The defaults of behaviour §7, in tokens.
const (
	protectTokens = 40_000
	maxPartTokens = 50_000
)

// prunedFor is what a part weighs, by the judge's own count and never less than
// what pruning takes it for, since it counts the frame of a message too: what
// the judge sees as protected is.
func (c *conversation) prunedFor(part *pb.Part) int {
	most := maxPartTokens
	if said := c.policy.pruning().GetMaxPartTokens(); said > 0 {
		most = int(said)
	}
	alone := validate.Message{Items: itemsOf([]*pb.Part{part})}
	return min(alone.Tokens(c.count), most)
}

// prunable is how many of the oldest parts pruning may clear: none that the
// newest tokens reach into, which it leaves alone.
func (c *conversation) prunable() int {
	said := c.policy.pruning()
	if said != nil && said.Enabled != nil && !said.GetEnabled() {
		return 0
	}
	protect := protectTokens
	if said != nil && said.ProtectTokens != nil {
		protect = int(said.GetProtectTokens())
	}
	for i := len(c.parts) - 1; i >= 0; i-- {
		if protect <= 0 {
			return i + 1
		}
		protect -= c.parts[i]
	}
	return 0
}

// pruning is what is said of pruning; nil if nothing is.
func (p *policy) pruning() *pb.PruningPolicy {
	if p == nil {
		return nil
	}
	return p.conversation.GetPruning()
}
