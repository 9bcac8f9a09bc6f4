package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// viewCap is a size that views are played at: so many tokens, or a share of what
// each policy says itself.
type viewCap struct {
	tokens  int32
	percent float64
}

// viewCaps reads --caps.
func (c *Command) viewCaps() ([]viewCap, error) {
	out := make([]viewCap, len(c.Caps))
	for i, text := range c.Caps {
		percent, isPercent := strings.CutSuffix(text, "%")
		share, err := strconv.ParseFloat(percent, 64)
		if !isPercent {
			var tokens int64
			tokens, err = strconv.ParseInt(text, 10, 32)
			share = float64(tokens)
		}
		switch {
		case err != nil || math.IsNaN(share) || share <= 0 || share > math.MaxInt32:
			return nil, fmt.Errorf("replay: --caps: %q is neither a number of tokens nor a percentage", text)
		case slices.Contains(c.Caps[:i], text):
			return nil, fmt.Errorf("replay: --caps: %s is given twice", text)
		case isPercent:
			out[i].percent = share
		default:
			out[i].tokens = int32(share)
		}
	}
	return out, nil
}

// of is what the cap comes to where the policy sets one of its own.
func (c viewCap) of(own int32) int32 {
	if c.percent == 0 {
		return c.tokens
	}
	return int32(math.Round(c.percent * float64(own) / 100))
}

// atCaps lists under what each policy is played: itself or, if it caps views and
// --caps says so, itself at each of these. The others have nothing to vary.
func (c *Command) atCaps(under []*policy) ([][]*policy, error) {
	caps, err := c.viewCaps()
	if err != nil {
		return nil, err
	}
	out := make([][]*policy, len(under))
	for i, p := range under {
		if len(caps) == 0 || p.fit().MaxContextTokens == nil {
			out[i] = []*policy{p}
			continue
		}
		for _, most := range caps {
			tokens := most.of(p.fit().GetMaxContextTokens())
			if tokens < 1 || tokens > c.Window-c.Reserve {
				return nil, fmt.Errorf("replay: --caps: %d tokens for %s are not within the window of %d", tokens, p.title(), c.Window-c.Reserve)
			}
			out[i] = append(out[i], p.at(tokens))
		}
	}
	return out, nil
}

// at is the policy with views of at most so many tokens.
func (p *policy) at(tokens int32) *policy {
	out := *p
	out.cap, out.conversation = tokens, proto.CloneOf(p.conversation)
	if out.conversation.Fit == nil {
		out.conversation.Fit = &pb.FitPolicy{}
	}
	out.conversation.Fit.MaxContextTokens = &tokens
	return &out
}
