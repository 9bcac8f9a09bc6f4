package policyservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PolicyOf is a policy of the contract in the engine's words. Settings beyond their limits are an error that names them all.
func PolicyOf(p *pb.Policy) (conversation.Policy, error) {
	c := &rules.Checker{}
	schema.Policy().Check(c, p)
	return convert.FromPolicy(p), c.Err()
}

// ToolsOf is what the contract says of tools, by name, in the engine's words. Settings beyond their limits are an error that names
// them all.
func ToolsOf(tools []*pb.ActionPolicy) (map[string]conversation.ActionPolicy, error) {
	c, tool, out := &rules.Checker{}, actionPolicyRules(), make(map[string]conversation.ActionPolicy, len(tools))
	c.Enter("tools")
	for _, p := range tools {
		c.Enter(p.GetToolName())
		tool.Check(c, p)
		c.Leave()
		out[p.GetToolName()] = fromActionPolicy(p)
	}
	return out, c.Err()
}
