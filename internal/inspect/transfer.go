package inspect

import (
	"bytes"
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// ExportCommand is `sidecar export`.
type ExportCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
}

// Help shows how it is used.
func (c *ExportCommand) Help() string {
	return `Example:

    sidecar export order-1881 > order-1881.jsonl`
}

// Run prints everything on record: byte for byte into a file or pipe, as other JSON on a terminal.
func (c *ExportCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		stream, err := s.record.ExportConversation(ctx, &pb.ExportConversationRequest{ConversationId: c.Conversation})
		if err != nil {
			return err
		}
		lines := &exportLines{session: s}
		for {
			piece, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := lines.write(piece.GetChunk()); err != nil {
				return err
			}
		}
	})
}

// exportLines prints the chunks of an export, which are cut anywhere, in whole lines.
type exportLines struct {
	*session
	rest []byte
}

func (l *exportLines) write(chunk []byte) error {
	l.rest = append(l.rest, chunk...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			return nil
		}
		if err := l.original(l.rest[:end:end]); err != nil {
			return err
		}
		l.rest = l.rest[end+1:]
	}
}

// ImportCommand is `sidecar import`.
type ImportCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The id of the conversation to create: exports hold none."`
	File         string `arg:"" optional:"" help:"The export; standard input by default." default:"-"`
}

// Help shows how it is used.
func (c *ImportCommand) Help() string {
	return `Example:

    sidecar import order-1881-copy < order-1881.jsonl`
}

// Validate refuses @latest.
func (c *ImportCommand) Validate() error {
	return writtenOut(c.Conversation)
}

// importChunkBytes is how much of an import is sent at once.
const importChunkBytes = 1 << 20

// Run creates a conversation from an export, all or nothing.
func (c *ImportCommand) Run(ctx context.Context, env *Env) error {
	file, err := env.open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return c.run(env, func(s *session) error {
		stream, err := s.record.ImportConversation(ctx)
		if err != nil {
			return err
		}
		if err := send(stream, c.Conversation, file); err != nil {
			return err
		}
		reply, err := stream.CloseAndRecv()
		made := reply.GetConversation()
		return s.done(reply, err, "%s: %s, %s tokens, turn %d", made.GetId(), sheet.Count(int(made.GetMessageCount()), "message"),
			terminal.Number(made.GetTokenCount()), made.GetTurn())
	})
}

// send sends an import. That the sidecar has refused it says the answer, not the sending.
func send(stream grpc.ClientStreamingClient[pb.ImportConversationRequest, pb.ImportConversationResponse], id string, file io.Reader) error {
	err := stream.Send(&pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: id}})
	chunk := make([]byte, importChunkBytes)
	for err == nil {
		n, reading := io.ReadFull(file, chunk)
		if n > 0 {
			err = stream.Send(&pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{Chunk: chunk[:n]}})
		}
		switch {
		case errors.Is(reading, io.EOF), errors.Is(reading, io.ErrUnexpectedEOF):
			err = io.EOF
		case reading != nil:
			return reading
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
