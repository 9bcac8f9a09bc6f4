package conversationservice

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/exportformat"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func importConversationRules() rules.Table[*pb.ImportConversationRequest] {
	return rules.Table[*pb.ImportConversationRequest]{
		rules.Either("payload", func(r *pb.ImportConversationRequest) bool { return r.GetPayload() != nil }),
		rules.TextIf("conversation_id", schema.NameLimit(), importID, rules.NoControls).Says("no control characters"),
		rules.Data("chunk", rules.AtMostBytes(schema.MaxContentBytes), (*pb.ImportConversationRequest).GetChunk),
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
func (s *Service) ImportConversation(stream grpc.ClientStreamingServer[pb.ImportConversationRequest, pb.ImportConversationResponse]) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return rules.Violation("conversation_id", "is required in the first piece")
	}
	if err != nil {
		return err
	}
	id, ok := importID(first)
	if !ok {
		return rules.Violation("conversation_id", "is required in the first piece")
	}
	memory, done, err := admission.ExchangeOf(stream.Context()).AdmitImport()
	if err != nil {
		return err
	}
	defer done()
	records := importReader{lines: exportformat.NewReader(&chunkReader{recv: stream.Recv}, memory), rules: s.imports}
	created, err := s.engine.Import(stream.Context(), convert.Key(stream.Context(), id), records.next)
	if err != nil {
		return err
	}
	return stream.SendAndClose(&pb.ImportConversationResponse{Conversation: toConversation(created)})
}

// importRules are the rules of what an export holds.
type importRules struct {
	message      rules.Table[*pb.Message]
	conversation rules.Table[*pb.Conversation]
}

func newImportRules() importRules {
	return importRules{message: schema.Record(), conversation: conversationRules()}
}

// importReader reads an export and holds it to the rules of the API: what could not be appended cannot be imported.
type importReader struct {
	lines *exportformat.Reader
	rules importRules
}

func (r *importReader) next() (*engine.Record, error) {
	record, err := r.lines.Next()
	var fault *exportformat.FaultError
	if errors.As(err, &fault) {
		return nil, rules.Violation("chunk", "%s", fault.Error())
	}
	if err != nil {
		return nil, err
	}
	return record, r.check(record)
}

func (r *importReader) check(record *engine.Record) error {
	c := &rules.Checker{}
	switch {
	case record.Message != nil:
		r.rules.message.Check(c, convert.ToMessage(unerased(record.Message)))
	case record.Conversation != nil:
		conversation := toConversation(record.Conversation)
		conversation.Id = "-" // an export has none; the request's own is checked already
		r.rules.conversation.Check(c, conversation)
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

func onLine(line int, c *rules.Checker) error {
	err := c.Err()
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
			return 0, rules.Violation("conversation_id", "must stand in the first piece alone")
		}
		r.rest = piece.GetChunk()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
