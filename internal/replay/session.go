package replay

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/recording"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// session is what all conversations of one replay share.
type session struct {
	contexts pb.ContextServiceClient
	records  pb.ConversationServiceClient
	contents pb.ContentServiceClient
	format   validate.Format
	window   int32
	reserve  int32
	model    string
	run      string // sets this run's conversations apart from earlier ones
	count    validate.Counter
	prices   report.Prices
	step     func() // called after each build
	sent     func(request string)
	policy   *policy
	sum      *report.Tally // of all conversations
}

// under is the session under a policy.
func (s *session) under(p *policy, files []string) *session {
	out := *s
	out.policy, out.sum = p, report.NewTally(files)
	return &out
}

func (s *session) budget() int { return s.policy.budget(int(s.window - s.reserve)) }

// conversation is one recording while it is played.
type conversation struct {
	*session
	*report.Tally
	id            string // in the sidecar
	name          string // in the recording
	index         int    // of the message at hand
	tools         string
	fixed         int               // weight of the tools
	history       *validate.History // of what enters the view
	whole         int               // weight of what was appended, in full
	checker       *validate.Checker
	appended      []*pb.Message
	entered       []*pb.Message     // the same as they enter the view, with citations in place
	weights       []int             // of these
	said          recall.References // everything that can be referred to
	words         map[string]recall.References
	shingler      recall.Shingler
	agentSaid     recall.Shingles // of what the agent said
	othersSaid    recall.Shingles // of what all others said
	blockShingles map[string]recall.Shingles
	previous      *build            // the last answered build
	names         map[string]string // of the tools that were called, by the call's id
	now           int               // the turn, by our own count
	lifetimes     []lifetime
	parts         []int // of what entered the view, as pruning counts them
	filling       filling
	opening       *userWords // the first message with a user's own words
	inForce       *userWords // the newest one
	closing       bool       // builds close calls that wait at the end
	ended         bool       // all is appended: what is built now is judged and not measured
	cited         []cited
	unasked       []cited // since the assistant spoke last
	excerpts      int     // tokens of what was asked for, as if it were in every context since
	reference     *regexp.Regexp
}

// build is what an answered build leaves to compare the next one with.
type build struct {
	blocks  []validate.Block
	without int // weight of the whole history
	total   int // weight of the context
	length  int // of the record
}

// play plays one recording and returns its figures.
func (s *session) play(ctx context.Context, id string, r *recording.Recording) *report.Tally {
	c := s.begin(id, r)
	c.create(ctx)
	for i, m := range r.Messages {
		if ctx.Err() != nil {
			return c.Tally
		}
		c.index = i
		if r.Asks(i) {
			c.build(ctx, m)
			c.ask(ctx, m)
			s.step()
		}
		c.append(ctx, m)
	}
	c.index, c.ended = len(r.Messages), true
	c.build(ctx, nil)
	if c.history.Pending() { // that was refused; whoever gives the calls up goes on
		c.closing = true
		c.build(ctx, nil)
	}
	c.probe(ctx)
	c.readBack(ctx)
	c.expandAll(ctx)
	c.expandSummaries(ctx)
	c.readContents(ctx)
	return c.Tally
}

func (s *session) begin(id string, r *recording.Recording) *conversation {
	count := validate.Memoized(s.count)
	// The command has refused a format that there is no checker for.
	checker, _ := validate.NewChecker(s.format, count)
	checker.Model = s.model
	t := report.NewTally(nil)
	t.Conversations, t.File = 1, r.File
	return &conversation{
		reference: reference(),
		session:   s, Tally: t, id: id, name: r.Name, tools: r.Tools, fixed: count(r.Tools),
		history: validate.NewHistory(count), checker: checker, said: recall.References{}, words: map[string]recall.References{},
		shingler: recall.NewShingler(), agentSaid: recall.Shingles{}, othersSaid: recall.Shingles{}, blockShingles: map[string]recall.Shingles{},
		names: map[string]string{},
	}
}

// create begins the conversation under the policy; without one, the first
// append creates it.
func (c *conversation) create(ctx context.Context) {
	if c.policy.conversation == nil {
		return
	}
	_, err := c.records.CreateConversation(ctx, &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: c.id, Policy: c.policy.conversation},
	})
	if err != nil {
		c.fail("errors", &c.Errors, "create: "+describe(err))
	}
}

// append puts a message on record, at the sidecar and in the model of it.
func (c *conversation) append(ctx context.Context, m *pb.Message) {
	m = c.policy.apply(m, c.names)
	started := time.Now()
	response, err := c.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: c.id, Message: m})
	if err != nil {
		c.notAppended(m, err)
		return
	}
	c.AppendTimes = append(c.AppendTimes, time.Since(started))
	c.Messages++
	if got := int(response.GetReceipt().GetIndex()); got != len(c.appended) {
		c.fail("errors", &c.Errors, fmt.Sprintf("appended as %d, want %d", got, len(c.appended)))
	}
	c.appended = append(c.appended, m)
	c.LetGo.Happened(response.GetEvents())
	c.trackUserWords(m)
	own := recall.Message(m)
	c.whole += own.Tokens(c.count)
	c.enter(m, response.GetReceipt().GetCitations())
	c.remember(own)
	for _, item := range own.Items {
		if item.Kind == validate.Call {
			c.names[item.ID] = item.Name
		}
	}
}

// enter takes a message that was just appended into the model of the view.
func (c *conversation) enter(m *pb.Message, citations []*pb.Citation) {
	shown := c.trackCitations(m, citations)
	own := recall.Message(shown)
	c.entered = append(c.entered, shown)
	c.history.Add(own)
	c.weights = append(c.weights, own.Tokens(c.count))
	c.trackResults(shown, len(citations) > 0)
}

// notAppended judges a refused append: a result that answers no call is rightly
// refused.
func (c *conversation) notAppended(m *pb.Message, err error) {
	if dial.Reason(err) != reasonNoCall {
		c.fail("errors", &c.Errors, "append: "+describe(err))
		return
	}
	c.RejectedAppends++
	for _, p := range m.GetParts() {
		if r := p.GetToolResult(); r != nil && c.history.Orphan(r.GetCallId()) {
			return
		}
	}
	c.fail("wrong_refusals", &c.WrongRefusals, "append refused, but every result has its call")
}

// fixedInput is what stands beside the context.
func (c *conversation) fixedInput() *pb.FixedInput {
	if c.tools == "" {
		return nil
	}
	return &pb.FixedInput{ToolsJson: c.tools}
}

// build asks for a context and judges what comes. Next is the message that the
// context is for, nil behind the last one.
func (c *conversation) build(ctx context.Context, next *pb.Message) {
	started, refused := time.Now(), c.Refused
	response, err := c.contexts.BuildContext(ctx, c.request(c.window))
	if c.ended {
		c.AtEnd.Builds++
		refused = c.AtEnd.Refused
	} else {
		c.Builds++
	}
	if err != nil {
		c.refused(err, c.budget(), refused)
		return
	}
	if !c.ended {
		c.BuildTimes = append(c.BuildTimes, time.Since(started))
	}
	if c.sent != nil {
		c.sent(response.GetRendered().GetRequestJson())
	}
	c.judge(response, next)
}

// request asks for a context in a window.
func (c *conversation) request(window int32) *pb.BuildContextRequest {
	return &pb.BuildContextRequest{
		ConversationId: c.id, Format: pb.ContextFormat(pb.ContextFormat_value["CONTEXT_FORMAT_"+strings.ToUpper(strings.ReplaceAll(string(c.format), "-", "_"))]), Model: c.model, FixedInput: c.fixedInput(), MaxReplyBytes: proto.Int32(dial.LargestReply),
		CloseOpenCalls: c.closing, Complete: c.sent != nil,
		Budget: &pb.Budget{ContextWindowTokens: &window, ReservedOutputTokens: &c.reserve},
	}
}

// fail counts something that must not be and keeps the first example.
func (c *conversation) fail(figure string, n *int, detail string) {
	*n++
	c.AddExample(report.Example{Figure: figure, Conversation: c.name, Message: c.index, Detail: detail})
}

// The reasons that a replay judges; see ErrorReason in the contract.
const (
	reasonNoCall    = "RESULT_WITHOUT_CALL"
	reasonPending   = "PENDING_TOOL_CALLS"
	reasonEmpty     = "EMPTY_CONTEXT"
	reasonNone      = "NO_MESSAGES"
	reasonCannotFit = "CONTEXT_CANNOT_FIT"
	reasonNotFound  = "CONVERSATION_NOT_FOUND"
	reasonTooLarge  = "REPLY_TOO_LARGE"
	reasonNotEdited = "NOT_EDITED"
)

// describe names an error without its text, which is the server's to word.
func describe(err error) string {
	return fmt.Sprintf("%v %s", status.Code(err), dial.Reason(err))
}

// refused judges a build at a budget that was not answered, and counts it by its
// reason.
func (c *conversation) refused(err error, room int, byReason map[string]int) {
	reason := dial.Reason(err)
	if status.Code(err) == codes.NotFound && reason == reasonNotFound && c.history.Len() == 0 {
		// Before anything is appended there is no conversation, so no message:
		// the same refusal by another name.
		reason = reasonNone
	}
	wrong := ""
	switch reason {
	case reasonPending:
		if !c.history.Pending() || c.closing {
			wrong = "no call waits at the end"
		}
	case reasonNone:
		if c.history.Len() > 0 {
			wrong = "there are messages"
		}
	case reasonEmpty:
		if !c.history.Blank() && c.history.BoneSpoken()+c.fixed <= room {
			wrong = "there is something to show"
		}
	case reasonCannotFit:
		if bone := c.history.Bone() + c.fixed; bone <= room {
			wrong = fmt.Sprintf("the least is %d tokens of %d", bone, room)
		}
	default:
		c.fail("errors", &c.Errors, "build: "+describe(err))
		return
	}
	byReason[reason]++
	if wrong != "" {
		c.fail("wrong_refusals", &c.WrongRefusals, reason+", but "+wrong)
	}
}

// checkAnswered judges that a build was answered at all.
func (c *conversation) checkAnswered() {
	switch {
	case c.history.Pending() && !c.closing:
		c.fail("wrong_refusals", &c.WrongRefusals, "answered while calls wait at the end")
	case c.history.SystemOnly():
		c.fail("wrong_refusals", &c.WrongRefusals, "answered with nothing but system messages")
	}
}
