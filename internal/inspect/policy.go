package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// PolicyCommand is `sidecar policy`: how long the results of tools and actions live.
type PolicyCommand struct {
	Put    PolicyPutCommand    `cmd:"" help:"Create an action policy, or replace it whole."`
	Get    PolicyGetCommand    `cmd:"" help:"Show an action policy."`
	List   PolicyListCommand   `cmd:"" help:"List the action policies."`
	Delete PolicyDeleteCommand `cmd:"" help:"Delete an action policy. What was appended keeps the settings that it got."`
}

// PolicyPutCommand is `sidecar policy put`.
type PolicyPutCommand struct {
	Sidecar
	Tool        string `help:"The policy of a tool." xor:"key" required:"" placeholder:"NAME"`
	Action      string `help:"The policy of an action." xor:"key" required:"" placeholder:"ID"`
	AgentAction string `help:"The policy of an action as one agent uses it." xor:"key" required:"" placeholder:"ID"`
	File        string `help:"File with the whole ActionPolicy as protobuf's JSON; - is standard input." xor:"key" required:"" placeholder:"FILE"`
	Turns       *int32 `help:"Turns for which results stay in full after their own."`
	Mode        string `help:"What happens then: none, remove or compact." enum:",none,remove,compact" default:""`
	CompactMode string `help:"How they are compacted: first-chars or summary." enum:",first-chars,summary" default:""`
	Length      *int32 `help:"Characters that compaction leaves, or a summary aims at."`
	Prompt      string `help:"The prompt for summaries." placeholder:"ID"`
}

// Help shows how it is used.
func (c *PolicyPutCommand) Help() string {
	return `Examples:

    sidecar policy put --tool read_page --turns 2 --mode compact --length 300
    echo '{"toolName": "search", "expiration": {"turns": 1, "mode": "EXPIRATION_MODE_REMOVE"}}' | sidecar policy put --file -`
}

var (
	expirationModes = map[string]pb.ExpirationMode{
		"none": pb.ExpirationMode_EXPIRATION_MODE_NONE, "remove": pb.ExpirationMode_EXPIRATION_MODE_REMOVE, "compact": pb.ExpirationMode_EXPIRATION_MODE_COMPACT,
	}
	compactModes = map[string]pb.CompactMode{
		"first-chars": pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, "summary": pb.CompactMode_COMPACT_MODE_AI_SUMMARY,
	}
)

// Validate refuses what does not go together.
func (c *PolicyPutCommand) Validate() error {
	if c.File != "" && (c.Turns != nil || c.Mode != "" || c.CompactMode != "" || c.Length != nil || c.Prompt != "") {
		return errors.New("--file holds the whole policy: not together with --turns, --mode, --compact-mode, --length or --prompt")
	}
	return nil
}

// Run puts the policy, and shows it as it is stored.
func (c *PolicyPutCommand) Run(ctx context.Context, env *Env) error {
	policy, err := c.policy(env)
	if err != nil {
		return err
	}
	return c.run(env, func(s *session) error {
		reply, err := s.policies.PutActionPolicy(ctx, &pb.PutActionPolicyRequest{Policy: policy})
		return actionPolicies.one(s, reply.GetPolicy(), err)
	})
}

func (c *PolicyPutCommand) policy(env *Env) (*pb.ActionPolicy, error) {
	p := &pb.ActionPolicy{}
	if c.File != "" {
		return p, env.object(c.File, "action policy", p)
	}
	p.Expiration = &pb.Expiration{
		Turns: c.Turns, Mode: expirationModes[c.Mode], CompactMode: compactModes[c.CompactMode], CompactLength: c.Length, CompactPromptId: c.Prompt,
	}
	switch {
	case c.Tool != "":
		p.Key = &pb.ActionPolicy_ToolName{ToolName: c.Tool}
	case c.Action != "":
		p.Key = &pb.ActionPolicy_ActionId{ActionId: c.Action}
	default:
		p.Key = &pb.ActionPolicy_AgentActionId{AgentActionId: c.AgentAction}
	}
	return p, nil
}

// policyKey says which policy a command is about.
type policyKey struct {
	Tool        string `help:"The policy of a tool." xor:"key" required:"" placeholder:"NAME"`
	Action      string `help:"The policy of an action." xor:"key" required:"" placeholder:"ID"`
	AgentAction string `help:"The policy of an action as one agent uses it." xor:"key" required:"" placeholder:"ID"`
}

// PolicyGetCommand is `sidecar policy get`.
type PolicyGetCommand struct {
	Sidecar
	policyKey
}

// Run shows the policy.
func (c *PolicyGetCommand) Run(ctx context.Context, env *Env) error {
	r := &pb.GetActionPolicyRequest{}
	switch {
	case c.Tool != "":
		r.Key = &pb.GetActionPolicyRequest_ToolName{ToolName: c.Tool}
	case c.Action != "":
		r.Key = &pb.GetActionPolicyRequest_ActionId{ActionId: c.Action}
	default:
		r.Key = &pb.GetActionPolicyRequest_AgentActionId{AgentActionId: c.AgentAction}
	}
	return c.run(env, func(s *session) error {
		reply, err := s.policies.GetActionPolicy(ctx, r)
		return actionPolicies.one(s, reply.GetPolicy(), err)
	})
}

// PolicyListCommand is `sidecar policy list`.
type PolicyListCommand struct {
	Sidecar
}

// Run lists the policies, page by page.
func (c *PolicyListCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.ListActionPoliciesRequest{PageSize: pageSize}
		return actionPolicies.list(s, &request.PageToken, 0, func() (string, []*pb.ActionPolicy, error) {
			reply, err := s.policies.ListActionPolicies(ctx, request)
			return reply.GetNextPageToken(), reply.GetPolicies(), err
		})
	})
}

// PolicyDeleteCommand is `sidecar policy delete`.
type PolicyDeleteCommand struct {
	Sidecar
	policyKey
}

// Run deletes the policy.
func (c *PolicyDeleteCommand) Run(ctx context.Context, env *Env) error {
	r := &pb.DeleteActionPolicyRequest{}
	switch {
	case c.Tool != "":
		r.Key = &pb.DeleteActionPolicyRequest_ToolName{ToolName: c.Tool}
	case c.Action != "":
		r.Key = &pb.DeleteActionPolicyRequest_ActionId{ActionId: c.Action}
	default:
		r.Key = &pb.DeleteActionPolicyRequest_AgentActionId{AgentActionId: c.AgentAction}
	}
	return c.run(env, func(s *session) error {
		reply, err := s.policies.DeleteActionPolicy(ctx, r)
		return s.done(reply, err, "The policy of %s is deleted.", cmp.Or(c.Tool, c.Action, c.AgentAction))
	})
}

var actionPolicies = tableOf[*pb.ActionPolicy]{[]sheet.Column{
	{Title: "for", Least: 12}, {Title: "name", Least: 20}, {Title: "turns", Right: true}, {Title: "then", Least: 7}, {Title: "how", Least: 13}, {Title: "cited", Least: 8}, {Title: "prompt"},
}, policyRow}

func policyRow(p *pb.ActionPolicy) []string {
	kind, name := "tool", p.GetToolName()
	switch key := p.GetKey().(type) {
	case *pb.ActionPolicy_ActionId:
		kind, name = "action", key.ActionId
	case *pb.ActionPolicy_AgentActionId:
		kind, name = "agent action", key.AgentActionId
	}
	e, turns, how := p.GetExpiration(), "", []string(nil)
	if e != nil && e.Turns != nil {
		turns = fmt.Sprint(e.GetTurns())
	}
	if e.GetCompactMode() != pb.CompactMode_COMPACT_MODE_UNSPECIFIED {
		how = append(how, sheet.EnumText(e.GetCompactMode()))
	}
	if e != nil && e.CompactLength != nil {
		how = append(how, fmt.Sprintf("to %d", e.GetCompactLength()))
	}
	then := ""
	if e.GetMode() != pb.ExpirationMode_EXPIRATION_MODE_UNSPECIFIED {
		then = sheet.EnumText(e.GetMode())
	}
	return []string{kind, name, turns, then, strings.Join(how, " "), citedWords(p.GetCitations()), cmp.Or(e.GetCompactPromptId(), p.GetDefaultCompactPromptId())}
}

// citedWords says which results are cited; nothing where the conversation says it.
func citedWords(c *pb.ActionCitations) string {
	words := ""
	if c != nil && c.Enabled != nil {
		words = map[bool]string{true: "yes", false: "no"}[c.GetEnabled()]
	}
	if c != nil && c.ThresholdChars != nil {
		words = joinNonEmpty(" ", words, fmt.Sprintf("over %d", c.GetThresholdChars()))
	}
	return words
}
