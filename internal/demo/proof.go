package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// proof is what was verified at the end. What does not hold is an error, not a line in it.
type proof struct {
	keptOut  int // messages that the last view leaves out or shortens, all asked back
	bytes    int64
	rebuilt  built
	biggest  int
	shown    int64 // tokens of the biggest result that the model saw
	rebuilds bool  // true if the bytes themselves were hashed, not their hash compared
	summary  string
	children int // messages that came back from the summary
}

func (a *agent) prove(ctx context.Context) (*proof, error) {
	p := &proof{biggest: a.biggest()}
	p.shown = a.entries[p.biggest].tokens - a.entries[p.biggest].saved
	if err := a.readBack(ctx, p); err != nil {
		return nil, err
	}
	if err := a.systemStands(); err != nil {
		return nil, err
	}
	if err := a.expandNewest(ctx, p); err != nil {
		return nil, err
	}
	return p, a.rebuild(ctx, p)
}

// expandNewest expands the newest summary of the last view, if it shows one, down to its messages.
func (a *agent) expandNewest(ctx context.Context, p *proof) (err error) {
	for _, m := range a.last.Messages {
		if id := m.GetOrigin().GetSummaryId(); id != "" {
			p.summary = id
		}
	}
	if p.summary == "" {
		return nil
	}
	if p.children, err = a.expandSummary(ctx, p.summary); err != nil {
		return fmt.Errorf("expanding summary %s: %w", p.summary, err)
	}
	return nil
}

// readBack reads every message of the record again and compares it with what was appended: what the last view does not show in
// full as a model would ask for it, the rest by its index.
func (a *agent) readBack(ctx context.Context, p *proof) error {
	seen := seenIn(a.last.Messages)
	for i := range a.entries {
		e := &a.entries[i]
		out := !seen[int32(i)] || e.shown != palimpsestv1.DecisionKind_DECISION_KIND_UNSPECIFIED
		message, err := a.fetch(ctx, int32(i), out)
		if err != nil {
			return fmt.Errorf("reading message %d back: %w", i, err)
		}
		if sum, _ := fingerprint(message); sum != e.sum {
			return fmt.Errorf("message %d came back different: SHA-256 %x, not %x", i, sum, e.sum)
		}
		if out {
			p.keptOut++
			p.bytes += int64(e.bytes)
		}
	}
	return nil
}

func (a *agent) fetch(ctx context.Context, index int32, out bool) (*palimpsestv1.Message, error) {
	if !out {
		return a.sidecar.message(ctx, index)
	}
	reply, err := a.sidecar.expand(ctx, index, palimpsestv1.ExpandMode_EXPAND_MODE_RETURN_ONLY)
	return reply.GetMessage(), err
}

// systemStands checks that the operator's rules are in the last view as they were written.
func (a *agent) systemStands() error {
	for _, m := range a.last.Messages {
		if m.Role == palimpsestv1.Role_ROLE_SYSTEM && len(m.Parts) == 1 && m.Parts[0].GetText() == systemPrompt {
			return nil
		}
	}
	return fmt.Errorf("the last view does not show the system prompt as it was appended")
}

// rebuild asks for a context of long ago again and compares its hash.
func (a *agent) rebuild(ctx context.Context, p *proof) error {
	p.rebuilt = a.builds[len(a.builds)/3]
	again, err := a.sidecar.manifest(ctx, p.rebuilt.manifestID)
	if err != nil {
		return fmt.Errorf("rebuilding %s: %w", p.rebuilt.manifestID, err)
	}
	rendered := again.GetRendered()
	sum := rendered.GetContentSha256()
	if p.rebuilds = len(rendered.GetMessagesJson()) > 0; p.rebuilds {
		bytes := sha256.Sum256(append(append(rendered.GetSystemJson(), 0), rendered.GetMessagesJson()...))
		sum = hex.EncodeToString(bytes[:])
	}
	if sum != p.rebuilt.sha256 {
		return fmt.Errorf("build %s was rebuilt different: SHA-256 %s, not %s", p.rebuilt.manifestID, sum, p.rebuilt.sha256)
	}
	return nil
}

func (a *agent) biggest() (index int) {
	for i := range a.entries {
		if a.entries[i].bytes > a.entries[index].bytes {
			index = i
		}
	}
	return index
}

// fingerprint hashes a message's own content, without what plugins added, and measures it in bytes.
func fingerprint(m *palimpsestv1.Message) (sum [32]byte, size int) {
	h := sha256.New()
	for _, part := range m.GetParts() {
		if part.GetPlugin() == "" {
			size += hashPart(h, part)
		}
	}
	h.Sum(sum[:0])
	return sum, size
}

func hashPart(h hash.Hash, part *palimpsestv1.Part) (size int) {
	var texts []string
	switch content := part.GetContent().(type) {
	case *palimpsestv1.Part_Text:
		texts = []string{"text", content.Text}
	case *palimpsestv1.Part_ToolCall:
		texts = []string{"call", content.ToolCall.CallId, content.ToolCall.Name, content.ToolCall.ArgumentsJson}
	case *palimpsestv1.Part_ToolResult:
		texts = []string{"result", content.ToolResult.CallId, content.ToolResult.State.String(), content.ToolResult.GetText()}
	}
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	if len(texts) > 0 {
		size = len(texts[len(texts)-1])
	}
	return size
}
