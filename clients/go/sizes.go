package palimpsest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// limits are what one request holds.
type limits struct {
	request  int // bytes that are put together in one
	item     int // bytes of one that goes alone: the sidecar takes 16 MiB
	items    int // of a batch
	elements int // of a part of a list
	long     int // bytes of a text that is stored beside an item that is too large with it
}

func defaultLimits() limits {
	return limits{request: 8 << 20, item: 15 << 20, items: 1000, elements: 5000, long: 1 << 20}
}

const (
	// maxMarks are the brackets and commas of a request's JSON: the sidecar takes 200,000.
	maxMarks = 100_000
	// marksOfItem is about what a message has beside.
	marksOfItem = 8
	// storedChunk is how much of a stored text is sent at once.
	storedChunk = 1 << 20
	// eachSecond is how many bytes of a large request there is a second more for.
	eachSecond = 8 << 20
)

// weight is what something takes of a request.
type weight struct{ size, marks int }

// weightOf is that of JSON. Words have commas too: there are never more marks than that.
func weightOf[T ~string | ~[]byte](text T) weight {
	w := weight{size: len(text)}
	for i := range len(text) {
		switch text[i] {
		case ',', '[', '{':
			w.marks++
		}
	}
	return w
}

func weightOfItem(item *pb.BatchAppendItem) weight {
	return weight{size: proto.Size(item), marks: weightOf(item.GetProviderInput().GetJson()).marks + marksOfItem}
}

// firstFitting is how many of the first things one request holds; at least one, if there is any.
func (l *limits) firstFitting(weights []weight, most int) int {
	var sum weight
	for n, w := range weights {
		sum.size, sum.marks = sum.size+w.size, sum.marks+w.marks
		if n > 0 && (n == most || sum.size > l.request || sum.marks > maxMarks) {
			return n
		}
	}
	return len(weights)
}

func weights[T any](things []T, of func(T) weight) []weight {
	out := make([]weight, len(things))
	for i, thing := range things {
		out[i] = of(thing)
	}
	return out
}

// fits says whether all that waits goes with one request, beside so many bytes.
func (c *Conversation) fits(beside int) bool {
	all := slices.Concat([]weight{{size: beside}}, weights(c.pending, weightOfItem))
	return c.limits.firstFitting(all, c.limits.items+1) == len(all)
}

// more is how much more patience there is with a request of so many bytes.
func more(size int) time.Duration { return time.Duration(size) * time.Second / eachSecond }

// shorten stores the long texts of what waits and is too large for a request.
func (c *Conversation) shorten(ctx context.Context) error {
	for _, item := range c.pending {
		if proto.Size(item) <= c.limits.item {
			continue
		}
		if in := item.GetProviderInput(); in != nil {
			shorter, err := c.shorter(ctx, []byte(in.GetJson()))
			if err != nil {
				return err
			}
			in.Json = string(shorter)
		}
		for _, part := range item.GetMessage().GetParts() {
			if err := c.shortenPart(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// shortenPart puts a citation in the place of a long text. Of a result, the record keeps where it lies.
func (c *Conversation) shortenPart(ctx context.Context, part *pb.Part) error {
	result := part.GetToolResult()
	text := part.GetText() + result.GetText() + result.GetJson()
	if len(text) <= c.limits.long {
		return nil
	}
	citation, err := c.store(ctx, text)
	if err != nil {
		return err
	}
	if result == nil {
		part.Content = &pb.Part_Text{Text: citation.GetText()}
		return nil
	}
	result.Output = &pb.ToolResult_Text{Text: citation.GetText()}
	result.RecalledFrom = &pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: citation.GetContentId()}}
	return nil
}

// shorter is a message in a provider's JSON with citations in the places of its long texts; each is worked out once.
func (c *Conversation) shorter(ctx context.Context, element json.RawMessage) (json.RawMessage, error) {
	key := sha256.Sum256(element)
	if made, ok := c.shortened[key]; ok {
		return made, nil
	}
	var message any
	if err := decodeExact(element, &message); err != nil {
		return element, nil //nolint:nilerr // the sidecar says what is wrong with it
	}
	message, err := c.citing(ctx, message, "")
	if err != nil {
		return nil, err
	}
	made, err := encode(message)
	if err == nil {
		c.shortened[key] = made
	}
	return made, err
}

// citing is a value under a key with citations in it. What a function of Gemini's answered is one text, whatever it is made of.
func (c *Conversation) citing(ctx context.Context, value any, key string) (_ any, err error) {
	switch v := value.(type) {
	case string:
		if len(v) <= c.limits.long || !slices.Contains([]string{"text", "content", "output"}, key) {
			return v, nil
		}
		citation, err := c.store(ctx, v)
		return citation.GetText(), err
	case []any:
		for i := range v {
			if v[i], err = c.citing(ctx, v[i], key); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if key == "response" {
			return c.citingResponse(ctx, v)
		}
		for name := range v {
			if v[name], err = c.citing(ctx, v[name], name); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func (c *Conversation) citingResponse(ctx context.Context, response map[string]any) (any, error) {
	text, err := encode(response)
	if err != nil || len(text) <= c.limits.long {
		return response, err
	}
	said := string(text)
	for _, only := range response {
		if words, ok := only.(string); ok && len(response) == 1 {
			said = words
		}
	}
	citation, err := c.store(ctx, said)
	return map[string]any{"output": citation.GetText()}, err
}

// store keeps a long text once, and returns what stands for it. Who stores the same again is answered as before.
func (c *Conversation) store(ctx context.Context, text string) (*pb.Citation, error) {
	sum := sha256.Sum256([]byte(text))
	if known := c.cited[sum]; known != nil {
		return known, nil
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	header := &pb.StoreContentHeader{ConversationId: c.id, Sha256: hex.EncodeToString(sum[:]), RequestId: newRequestID(), Reuse: true}
	stored, err := attempts(ctx, c.p.timeout+more(len(text)), func(ctx context.Context) (*pb.StoreContentResponse, error) {
		return c.upload(ctx, header, text)
	})
	if err != nil {
		return nil, err
	}
	c.cited[sum] = stored.GetCitation()
	return stored.GetCitation(), nil
}

func (c *Conversation) upload(ctx context.Context, header *pb.StoreContentHeader, text string) (*pb.StoreContentResponse, error) {
	stream, err := c.p.Raw.Contents.StoreContent(ctx)
	if err != nil {
		return nil, err
	}
	err = stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: header}})
	for rest := []byte(text); err == nil && len(rest) > 0; {
		n := min(len(rest), storedChunk)
		err, rest = stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: rest[:n]}}), rest[n:]
	}
	if err != nil && !errors.Is(err, io.EOF) { // with EOF, the answer says why
		return nil, err
	}
	return stream.CloseAndRecv()
}

// sent is a list as it is sent, with citations in what is too large.
func (c *Conversation) sent(ctx context.Context, elements []json.RawMessage) ([]json.RawMessage, error) {
	out := elements
	for i, element := range elements {
		if len(element) <= c.limits.item {
			continue
		}
		if &out[0] == &elements[0] {
			out = slices.Clone(elements)
		}
		var err error
		if out[i], err = c.shorter(ctx, element); err != nil {
			return nil, err
		}
	}
	return out, nil
}
