package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func buildAppendRules(messages rules.Table[*pb.Message]) rules.Table[*pb.BuildAppend] {
	items := rules.List("items", rules.AtMost(1000), (*pb.BuildAppend).GetItems, batchItemRules(messages))
	return rules.Table[*pb.BuildAppend]{
		items.Also(func(c *rules.Checker, a *pb.BuildAppend) {
			if (len(a.GetItems()) == 0) == (a.GetProviderInput() == nil) {
				c.Fail("set exactly one of items and provider_input")
			}
		}),
		rules.Message("provider_input", (*pb.BuildAppend).GetProviderInput, schema.ProviderInput()),
		rules.OptionalNumber("expected_index", schema.IndexLimit(), func(a *pb.BuildAppend) *int32 { return a.ExpectedIndex }),
	}
}

// step appends and builds.
func (s *Service) step(ctx context.Context, a *pb.BuildAppend, r engine.BuildRequest, reply *buildReply) (*pb.BuildContextResponse, error) {
	g := &gathering{service: s}
	if err := g.addBuildAppend(a); err != nil {
		return nil, err
	}
	step := engine.StepRequest{Build: r, Append: g.out, Check: func(result *engine.StepResult) error {
		reply.appended = result.Appended
		return reply.check(result.Result)
	}}
	step.Append.ExpectedIndex = a.ExpectedIndex
	result, err := s.engine.Step(ctx, step)
	if err != nil {
		return nil, err
	}
	out, err := reply.of(result.Result)
	if err != nil {
		return nil, err
	}
	out.LeftOutCalls = int32(g.leftOut)
	return out, nil
}

func (g *gathering) addBuildAppend(a *pb.BuildAppend) error {
	if in := a.GetProviderInput(); in != nil {
		return g.read("append.provider_input", in, nil)
	}
	return g.addItems("append.", a.GetItems())
}

// setAppended adds to an answer what was appended.
func setAppended(out *pb.BuildContextResponse, r *engine.AppendResult) {
	if r == nil {
		return
	}
	out.Receipts, out.Calls, out.History = toReceipts(r), toCalls(r.Calls), toHistory(r.History)
}
