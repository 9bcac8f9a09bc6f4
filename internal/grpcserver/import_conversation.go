package grpcserver

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/exportformat"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func importConversationRules() table[*pb.ImportConversationRequest] {
	id := textIf("conversation_id", nameLimit(), importID, noControls)
	id.limits = append(id.limits, "no control characters")
	return table[*pb.ImportConversationRequest]{
		either("payload", func(r *pb.ImportConversationRequest) bool { return r.GetPayload() != nil }),
		id,
		data("chunk", atMostBytes(maxContentBytes), (*pb.ImportConversationRequest).GetChunk),
	}
}

func importID(r *pb.ImportConversationRequest) (string, bool) {
	id, ok := r.GetPayload().(*pb.ImportConversationRequest_ConversationId)
	if !ok {
		return "", false
	}
	return id.ConversationId, true
}

// ImportConversation creates a conversation from an export, all or nothing.
func (s *service) ImportConversation(stream grpc.ClientStreamingServer[pb.ImportConversationRequest, pb.ImportConversationResponse]) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return violation("conversation_id", "is required in the first piece")
	}
	if err != nil {
		return err
	}
	id, ok := importID(first)
	if !ok {
		return violation("conversation_id", "is required in the first piece")
	}
	records := importReader{lines: exportformat.NewReader(&chunkReader{recv: stream.Recv}), rules: s.rules}
	created, err := s.engine.Import(stream.Context(), s.key(id), records.next)
	if err != nil {
		return err
	}
	return stream.SendAndClose(&pb.ImportConversationResponse{Conversation: toConversation(created)})
}

// importReader reads an export and holds it to the rules of the API: what could not be appended cannot be imported.
type importReader struct {
	lines *exportformat.Reader
	rules *ruleBook
}

func (r *importReader) next() (*engine.Record, error) {
	record, err := r.lines.Next()
	var fault *exportformat.FaultError
	if errors.As(err, &fault) {
		return nil, violation("chunk", "%s", fault.Error())
	}
	if err != nil {
		return nil, err
	}
	return record, r.check(record)
}

func (r *importReader) check(record *engine.Record) error {
	c := &checker{}
	switch {
	case record.Message != nil:
		r.rules.message.check(c, toMessage(unerased(record.Message)))
	case record.Conversation != nil:
		conversation := toConversation(record.Conversation)
		conversation.Id = "-" // an export has none; the request's own is checked already
		r.rules.conversation.check(c, conversation)
	}
	return onLine(r.lines.Line(), c)
}

// unerased puts something that every rule accepts in the place of what was erased: what obeyed the rules once must not be held
// to them again.
func unerased(m *conversation.Message) *conversation.Message {
	if !conversation.Erased(m.Parts) {
		return m
	}
	out := *m
	out.Parts = conversation.CloneParts(m.Parts)
	for _, c := range conversation.Contents(out.Parts) {
		if c.Erased != nil {
			*c = conversation.Content{Inline: "{}"}
		}
	}
	return &out
}

func onLine(line int, c *checker) error {
	err := c.err()
	var e *conversation.Error
	if errors.As(err, &e) {
		for i, v := range e.Violations {
			e.Violations[i] = conversation.Violation{Field: "chunk", Text: fmt.Sprintf("line %d, %s: %s", line, v.Field, v.Text)}
		}
	}
	return err
}

// chunkReader reads the chunks of an import as one run of bytes.
type chunkReader struct {
	recv func() (*pb.ImportConversationRequest, error)
	rest []byte
}

// Read reads from the current chunk, or receives the next.
func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		piece, err := r.recv()
		if err != nil {
			return 0, err
		}
		if _, again := importID(piece); again {
			return 0, violation("conversation_id", "must stand in the first piece alone")
		}
		r.rest = piece.GetChunk()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
