package palimpsest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Differs says what happens where a whole list differs from the record.
type Differs string

// What happens.
const (
	// DiffersRefuse fails with HISTORY_DIVERGED.
	DiffersRefuse Differs = "refuse"
	// DiffersRewind takes the record back to there.
	DiffersRewind Differs = "rewind"
	// DiffersNew does so too, but a list with another first message begins another
	// conversation: ID is then that one's, until a list comes that is another
	// one's.
	DiffersNew Differs = "new"
)

// Cut says whether a model goes on to see messages that a whole list no longer
// holds, and that no build left out.
type Cut string

// Whether it does.
const (
	CutKeep Cut = "keep"
	CutHide Cut = "hide"
)

// prefix is the part of a list that the sidecar has seen.
type prefix struct {
	count int
	hash  string
}

// listed is a whole list, and what its build takes beside it.
type listed struct {
	format   Format
	elements []json.RawMessage
	sent     []json.RawMessage // with citations in what is too large
	history  *pb.HistoryOptions
	request  Request
}

// Sync brings the record up to a whole list of messages, an array in a
// provider's form and of any size, and returns the body of the model's call:
// what the model should see of it. Where the list differs from the record it
// fails with HISTORY_DIVERGED, unless the request says otherwise (Differs).
// Tools that recall are not added: whoever keeps the list offers them (Tools),
// and answers them by Recall.
func (c *Conversation) Sync(ctx context.Context, format Format, messages json.RawMessage, r Request) (json.RawMessage, error) {
	l, err := c.listed(format, messages, r)
	if err != nil {
		return nil, err
	}
	if err = c.sync(ctx, l); err == nil {
		c.shaped = true // as far as this can tell
		c.views[format] = lastView{body: c.built.GetRendered().GetRequestJson()}
		return format.request(c.views[format].body, r.Model, r.With)
	}
	behind, err := c.passed(err, l, func(v *lastView) bool { return v.body != "" })
	if err != nil {
		return nil, err
	}
	body := c.views[format].body
	if behind == 0 {
		body = format.plain(&r)
	}
	body, err = format.extended(body, l.elements[behind:])
	if err != nil {
		return nil, err
	}
	return format.request(body, r.Model, r.With)
}

func (c *Conversation) listed(format Format, messages json.RawMessage, r Request) (*listed, error) {
	l := &listed{format: format, request: r, history: &pb.HistoryOptions{
		OnDivergence: pb.OnDivergence(pb.OnDivergence_value["ON_DIVERGENCE_"+strings.ToUpper(string(cmp.Or(r.Differs, DiffersRefuse)))]),
		OnCut:        pb.OnCut(pb.OnCut_value["ON_CUT_"+strings.ToUpper(string(cmp.Or(r.Cut, CutKeep)))]),
	}}
	if l.history.GetOnDivergence() == 0 || l.history.GetOnCut() == 0 {
		return nil, fmt.Errorf("palimpsest: there is no %q, or no %q", string(r.Differs), string(r.Cut))
	}
	if err := json.Unmarshal(messages, &l.elements); err != nil {
		return nil, fmt.Errorf("palimpsest: the messages are no JSON array: %w", err)
	}
	l.sent = l.elements
	return l, nil
}

// sync sends a list, without what the sidecar knows of it, and takes what it answers.
func (c *Conversation) sync(ctx context.Context, l *listed) (err error) {
	c.lists = true
	if err := c.Flush(ctx); err != nil {
		return err
	}
	if c.lost {
		l.history.OnDivergence = pb.OnDivergence_ON_DIVERGENCE_NEW
	}
	if l.sent, err = c.sent(ctx, l.elements); err != nil {
		return err
	}
	if leading, leads := leadingSystem(l.sent); l.request.System == "" && leads && c.holds(l.sent) {
		err = c.send(ctx, l, prefix{}) // the prompt is on no record, and has to be sent each time
	} else {
		l.request.System = cmp.Or(l.request.System, leading)
		err = c.sendBehind(ctx, l)
	}
	if err != nil {
		return err
	}
	history := c.built.GetHistory()
	c.id = cmp.Or(history.GetConversationId(), c.id)
	if c.lost {
		c.opened = c.id
	}
	clear(c.recalled) // it came with the list
	c.format, c.lost = l.format, false
	c.known[l.format] = prefix{int(history.GetKnownCount()), history.GetKnownSha256()}
	return nil
}

// holds says whether one request holds a list.
func (c *Conversation) holds(elements []json.RawMessage) bool {
	return c.limits.firstFitting(weights(elements, weightOf[json.RawMessage]), c.limits.elements) == len(elements)
}

// prefixOf is how much of a list the sidecar has seen: it is left out, if it is as it was.
func (c *Conversation) prefixOf(l *listed) prefix {
	seen := c.known[l.format]
	if seen.count == 0 || seen.count > len(l.sent) || chain(l.sent[:seen.count]) != seen.hash {
		return prefix{}
	}
	return seen
}

// sendBehind sends a list without what the sidecar knows of it. What it knows of one that is too large for a request, it is asked first.
func (c *Conversation) sendBehind(ctx context.Context, l *listed) error {
	seen, large := c.prefixOf(l), false
	if seen.count == 0 {
		if large = !c.holds(l.sent); large {
			seen = prefix{len(l.sent), chain(l.sent)}
		}
	}
	err := c.send(ctx, l, seen)
	for _, count := range knownCounts(err) {
		if isUnknown(err) && large && count < len(l.sent) {
			err = c.send(ctx, l, prefix{count, chain(l.sent[:count])})
		}
	}
	if isUnknown(err) {
		err = c.send(ctx, l, prefix{})
	}
	return err
}

func isUnknown(err error) bool {
	return ReasonOf(err) == pb.ErrorReason_ERROR_REASON_HISTORY_PREFIX_UNKNOWN
}

// knownCounts are how many elements the lists have that the sidecar remembers, the longest first.
func knownCounts(err error) (counts []int) {
	if failed := (*Error)(nil); errors.As(err, &failed) {
		for _, said := range strings.Fields(failed.Metadata["known_counts"]) {
			if n, err := strconv.Atoi(said); err == nil && n > 0 {
				counts = append(counts, n)
			}
		}
	}
	slices.SortFunc(counts, func(a, b int) int { return b - a })
	return counts
}

// send sends a list behind a prefix that is known, in as many requests as it takes. The last one builds.
func (c *Conversation) send(ctx context.Context, l *listed, seen prefix) error {
	rest := l.sent[seen.count:]
	for measured := weights(rest, weightOf[json.RawMessage]); ; {
		n := c.limits.firstFitting(measured, c.limits.elements)
		if n == len(rest) {
			break
		}
		history, err := c.sendPart(ctx, l, rest[:n], seen)
		if err != nil {
			return err
		}
		seen = prefix{int(history.GetKnownCount()), history.GetKnownSha256()}
		rest, measured = rest[n:], measured[n:]
	}
	input, err := l.input(rest, seen)
	if err != nil {
		return err
	}
	return c.build(ctx, func() *pb.BuildContextRequest {
		built := l.request.build(c.opened, l.format)
		built.Append = &pb.BuildAppend{ProviderInput: input}
		return built
	}, func() int { return 0 })
}

func (c *Conversation) sendPart(ctx context.Context, l *listed, part []json.RawMessage, seen prefix) (*pb.HistoryResult, error) {
	input, err := l.input(part, seen)
	if err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	input.History.ByPlace = false
	request := &pb.AppendMessageRequest{ConversationId: c.opened, RequestId: newRequestID(), ProviderInput: input}
	appended, err := callWithin(ctx, c.p, c.patience(request), c.p.Raw.Context.AppendMessage, request)
	return appended.GetHistory(), err
}

func (l *listed) input(elements []json.RawMessage, seen prefix) (*pb.ProviderInput, error) {
	// The bytes are those that the sidecar's hash is over.
	input, err := inputOf(l.format, array(elements), pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_HISTORY)
	if err != nil {
		return nil, err
	}
	history, _ := proto.Clone(l.history).(*pb.HistoryOptions)
	history.KnownCount, history.KnownSha256 = int32(seen.count), seen.hash
	input.Model, input.History = l.request.Model, history
	return input, nil
}

// leadingSystem is the system prompt that leads a list, as far as it is text.
func leadingSystem(elements []json.RawMessage) (prompt string, leads bool) {
	var first struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if len(elements) == 0 || json.Unmarshal(elements[0], &first) != nil || first.Role != "system" && first.Role != "developer" {
		return "", false
	}
	var parts []struct{ Text string }
	if json.Unmarshal(first.Content, &prompt) == nil || json.Unmarshal(first.Content, &parts) != nil {
		return prompt, true
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n"), true
}

// array writes elements as they are.
func array(elements []json.RawMessage) json.RawMessage {
	raw := make([][]byte, len(elements))
	for i, element := range elements {
		raw[i] = element
	}
	return slices.Concat([]byte("["), bytes.Join(raw, []byte(",")), []byte("]"))
}

// chain is the hash over the elements of a list, as the sidecar knows it by.
func chain(elements []json.RawMessage) string {
	var state [sha256.Size]byte
	for _, element := range elements {
		h := sha256.New()
		h.Write(state[:])
		h.Write(element)
		h.Sum(state[:0])
	}
	return hex.EncodeToString(state[:])
}
