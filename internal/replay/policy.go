package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// policy is what recordings are played under: the policy of each conversation,
// and how long the results of single tools live.
//
// What is said of a tool goes with each result as its own expiration, not as an
// action policy: a sidecar that runs already keeps its catalog as it is, also
// if the replay is killed, and replays with different files do not meet in it.
type policy struct {
	name         string     // as it was asked for; empty for the sidecar's own
	cite         bool       // citations were switched on in it
	cap          int32      // what --caps says that views weigh at most; 0 if it says nothing
	conversation *pb.Policy // nil for the sidecar's own
	tools        map[string]*pb.Expiration
}

// policies reads what is to be played under: the policies that were asked for,
// to cite each with citations and without, and beside them none, to compare.
func (c *Command) policies() ([]*policy, error) {
	asked, err := c.asked()
	if err != nil {
		return nil, err
	}
	var out []*policy
	for _, p := range asked {
		if c.Cite && !p.cites() {
			out = append(out, p.trackCitations())
		}
		if !c.Cite || p.cites() || !c.Alone {
			out = append(out, p)
		}
	}
	if c.Alone || len(c.Policy) == 0 && !c.Cite || slices.Contains(c.Policy, policies.None) {
		return out, nil
	}
	none, err := read(policies.None)
	return append(out, none), err
}

// asked reads the policies that were asked for. Without any, what there is is
// the sidecar's own.
func (c *Command) asked() ([]*policy, error) {
	if len(c.Policy) == 0 {
		return []*policy{{}}, nil
	}
	out := make([]*policy, len(c.Policy))
	for i, name := range c.Policy {
		if slices.Contains(c.Policy[:i], name) {
			return nil, fmt.Errorf("replay: --policy %s is given twice", name)
		}
		var err error
		if out[i], err = read(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func read(name string) (*policy, error) {
	file, err := policies.Read(name, func(field string) string { return notHere[field] })
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	p := &policy{name: name, conversation: file.Conversation, tools: map[string]*pb.Expiration{}}
	for _, tool := range file.Tools {
		p.tools[tool.GetToolName()] = tool.GetExpiration()
	}
	return p, nil
}

// cites says whether the policy itself switches citations on.
func (p *policy) cites() bool { return p.conversation.GetCitations().GetEnabled() }

// countsMessages says whether the policy makes views smaller for their number of
// messages, whatever the window.
func (p *policy) countsMessages() bool {
	return p.conversation.GetCompaction().GetThresholdMessages() > 0
}

// trackCitations is the policy with citations switched on.
func (p *policy) trackCitations() *policy {
	out := *p
	out.cite, out.conversation = true, &pb.Policy{}
	proto.Merge(out.conversation, p.conversation)
	proto.Merge(out.conversation, &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: proto.Bool(true)}})
	return &out
}

// citeLength is up to which length in characters nothing is cited; 0 if nothing
// is said of citations.
func (p *policy) citeLength() int {
	switch said := p.conversation.GetCitations(); {
	case said == nil:
		return 0
	case said.ThresholdChars != nil:
		return int(said.GetThresholdChars())
	default:
		return citeLength
	}
}

// title names the policy with what was switched on in it.
func (p *policy) title() string { return report.Title(p.name, p.cite) }

// notHere says why a field has no place in a policy that is played under.
var notHere = map[string]string{
	"palimpsest.v1.FitPolicy.context_window_tokens":      "--window says it",
	"palimpsest.v1.FitPolicy.reserved_output_tokens":     "--reserve says it",
	"palimpsest.v1.Policy.ttl":                           "the conversations are read back at the end",
	"palimpsest.v1.Policy.ttl_without_tombstone":         "the conversations are read back at the end",
	"palimpsest.v1.Expiration.preserve_original_content": "everything is read back at the end",
	"palimpsest.v1.PruningPolicy.erase_after":            "everything is read back at the end",
	"palimpsest.v1.ActionPolicy.citations":               "it is a server's own file that says it of tools",
	"palimpsest.v1.ActionPolicy.importance":              "it is a server's own file that says it of tools",
	"palimpsest.v1.Expiration.source":                    "the sidecar says it",
}

// fit is what is said of how the view is fitted.
func (p *policy) fit() *pb.FitPolicy {
	if said := p.conversation.GetFit(); said != nil {
		return said
	}
	return &pb.FitPolicy{}
}

// budget is B: what the window leaves, or less if the policy says so.
func (p *policy) budget(room int) int {
	if most := p.fit().MaxContextTokens; most != nil {
		return min(room, int(*most))
	}
	return room
}

// clipShare is how much of B a tool result may take when it enters a view, in
// percent.
func (p *policy) clipShare() int {
	if share := p.fit().MaxResultPercent; share != nil {
		return int(*share)
	}
	return defaultClipShare
}

// keepsOpening says whether the opening stays in view.
func (p *policy) keepsOpening() bool {
	keep := p.fit().KeepOpening
	return keep == nil || *keep
}

// defaultClipShare is that of behaviour §4.
const defaultClipShare = 25

// apply returns a message as it is appended under the policy: results of named
// tools say how long they live. A result that does not name its tool has the
// name of its call.
func (p *policy) apply(m *pb.Message, calls map[string]string) *pb.Message {
	if len(p.tools) == 0 || m.GetRole() != pb.Role_ROLE_TOOL {
		return m
	}
	m = proto.CloneOf(m)
	for _, part := range m.GetParts() {
		r := part.GetToolResult()
		if r == nil {
			continue
		}
		if e := p.tools[cmp.Or(r.GetName(), calls[r.GetCallId()])]; e != nil {
			r.Expiration = proto.CloneOf(e)
		}
	}
	return m
}

// tryOut has the sidecar look at a policy before anything is played, in a
// conversation that is deleted again: what it refuses is said once, in its
// words, and not counted as an error of each message.
func (s *session) tryOut(ctx context.Context) error {
	p, id := s.policy, "replay-"+s.run+"-policy"
	if p.conversation == nil {
		return nil
	}
	_, err := s.records.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: p.conversation}})
	if err != nil {
		return fmt.Errorf("replay: the sidecar refuses the policy %s: conversation: %s", p.title(), status.Convert(err).Message())
	}
	for _, tool := range slices.Sorted(maps.Keys(p.tools)) {
		m := &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: "x"}}}, Expiration: p.tools[tool]}
		if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: id, Message: m}); err != nil {
			return fmt.Errorf("replay: the sidecar refuses the policy %s: tools: %s: %s", p.title(), tool, status.Convert(err).Message())
		}
	}
	_, err = s.records.DeleteConversation(ctx, &pb.DeleteConversationRequest{ConversationId: id})
	return err
}

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
	out.conversation.Fit.MaxContextTokens = &tokens // it caps views already
	return &out
}
