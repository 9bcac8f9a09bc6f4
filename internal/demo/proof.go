package demo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// prove verifies what the sidecar promises, and prints it. What does not hold is an error, not a line.
func (a *agent) prove(ctx context.Context) {
	a.proveRecord(ctx)
	a.proveSummary(ctx)
	if !slices.ContainsFunc(a.lastView, func(m *pb.ContextMessage) bool {
		return m.Role == pb.Role_ROLE_SYSTEM && len(m.Parts) == 1 && m.Parts[0].GetText() == systemPrompt
	}) {
		a.fail("looking at the last view", errors.New("it does not show the system prompt as it was appended"))
	}
	a.proven("The system prompt stands in the last context as it was written.")
	a.proveBuild(ctx)
}

// proveRecord asks for every message back, as a model would.
func (a *agent) proveRecord(ctx context.Context) {
	seen, out, bytes := indexesOf(a.lastView), 0, 0
	for i := range a.entries {
		_, err := a.readBack(ctx, int32(i))
		a.fail("reading a message back", err)
		if e := &a.entries[i]; !seen[int32(i)] || e.shown != pb.DecisionKind_DECISION_KIND_UNSPECIFIED {
			out++
			bytes += e.bytes
		}
	}
	a.proven("The last context leaves out or shortens %d messages, %s: each was asked back just now, and all %d on record were read. "+
		"SHA-256 equal, byte for byte.", out, terminal.Bytes(bytes), len(a.entries))
	e := &a.entries[a.biggest]
	a.proven("The biggest: message %d, %s, %s bytes, about %s tokens, of which the model saw about %s, head and tail. SHA-256 %x….",
		a.biggest, e.label, number(e.bytes), number(e.tokens), number(e.tokens-e.saved), e.sum[:8])
}

// readBack asks for a message as it was appended, and compares it.
func (a *agent) readBack(ctx context.Context, index int32) (*pb.Message, error) {
	reply, err := a.sidecar.expand(ctx, &pb.ExpandMessageRequest{
		Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index}, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY,
	})
	if err != nil {
		return nil, err
	}
	return reply.GetMessage(), a.same(reply.GetMessage(), index)
}

func (a *agent) same(m *pb.Message, index int32) error {
	if sum, _ := fingerprint(m); sum != a.entries[index].sum {
		return fmt.Errorf("message %d came back different: SHA-256 %x, not %x", index, sum, a.entries[index].sum)
	}
	return nil
}

// proveSummary expands the newest summary of the last view, if it shows one, down to its messages.
func (a *agent) proveSummary(ctx context.Context) {
	newest := ""
	for _, m := range a.lastView {
		newest = cmp.Or(m.GetOrigin().GetSummaryId(), newest)
	}
	if newest != "" {
		a.proven("Summary %s expands to the %d messages of its range: SHA-256 equal, byte for byte.", newest, a.expandSummary(ctx, newest))
	}
}

// expandSummary asks for everything that a summary stands for, down to the messages, and returns how many these are.
func (a *agent) expandSummary(ctx context.Context, id string) (messages int) {
	for page, more := "", true; more; more = page != "" {
		reply, err := a.sidecar.expand(ctx, &pb.ExpandMessageRequest{
			Target: &pb.ExpandMessageRequest_SummaryId{SummaryId: id}, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, PageToken: page,
		})
		a.fail("expanding a summary", err)
		for _, child := range reply.GetChildren() {
			if m := child.GetMessage(); m != nil {
				a.fail("expanding a summary", a.same(m, m.Index))
				messages++
			} else {
				messages += a.expandSummary(ctx, child.GetSummaryId())
			}
		}
		page = reply.GetNextPageToken()
	}
	return messages
}

// proveBuild asks for an early context again and compares its hash.
func (a *agent) proveBuild(ctx context.Context) {
	id, want := a.early.GetManifestId(), a.early.GetRendered().GetContentSha256()
	again, err := a.sidecar.records.GetManifest(ctx, &pb.GetManifestRequest{
		ConversationId: a.sidecar.conversation, ManifestId: id, MaxReplyBytes: proto.Int32(dial.LargestReply),
	})
	a.fail("building a context again", err)
	rendered, how := again.GetRendered(), "its hash is the one it was built with"
	sum := rendered.GetContentSha256()
	if len(rendered.GetMessagesJson()) > 0 {
		bytes := sha256.Sum256(slices.Concat(rendered.GetSystemJson(), []byte{0}, rendered.GetMessagesJson()))
		sum, how = hex.EncodeToString(bytes[:]), "the hash of its bytes is the one it was built with"
	}
	if sum != want {
		a.fail("building a context again", fmt.Errorf("%s is different: SHA-256 %s, not %s", id, sum, want))
	}
	a.proven("The context of turn %d (%s) was built again: %s, %.16s….", a.early.GetTurn(), id, how, want)
}

// fingerprint hashes a message's own content, without what plugins added, and measures it in bytes.
func fingerprint(m *pb.Message) (sum [32]byte, size int) {
	h := sha256.New()
	for _, part := range m.GetParts() {
		if part.GetPlugin() != "" {
			continue
		}
		said, c, r := part.GetText(), part.GetToolCall(), part.GetToolResult()
		for _, text := range []string{said, c.GetCallId(), c.GetName(), c.GetArgumentsJson(), r.GetCallId(), r.GetState().String(), r.GetText()} {
			fmt.Fprintf(h, "%d:%s", len(text), text)
		}
		size += len(said) + len(c.GetArgumentsJson()) + len(r.GetText())
	}
	h.Sum(sum[:0])
	return sum, size
}
