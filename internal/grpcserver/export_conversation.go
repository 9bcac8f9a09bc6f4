package grpcserver

import (
	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/exportformat"
)

func exportConversationRules() table[*pb.ExportConversationRequest] {
	return table[*pb.ExportConversationRequest]{
		conversationID("conversation_id", (*pb.ExportConversationRequest).GetConversationId),
	}
}

// ExportConversation streams everything on record.
func (s *service) ExportConversation(req *pb.ExportConversationRequest, stream grpc.ServerStreamingServer[pb.ExportConversationResponse]) error {
	chunks := &chunkWriter{send: func(chunk []byte) error {
		return stream.Send(&pb.ExportConversationResponse{Chunk: chunk})
	}}
	export := exportformat.NewWriter(chunks)
	if err := s.engine.Export(stream.Context(), s.key(req.GetConversationId()), export.Write); err != nil {
		return err
	}
	if err := export.End(); err != nil {
		return err
	}
	return chunks.flush()
}

// chunkWriter gathers bytes into chunks of one size, so that small records do not travel alone nor large ones whole. Send has
// marshalled a chunk when it returns.
type chunkWriter struct {
	send func([]byte) error
	buf  []byte
}

// Write sends what fills a chunk and keeps the rest.
func (w *chunkWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(w.buf)+len(p) >= exportChunkBytes {
		take := exportChunkBytes - len(w.buf)
		w.buf = append(w.buf, p[:take]...)
		p = p[take:]
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	w.buf = append(w.buf, p...)
	return n, nil
}

func (w *chunkWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.send(w.buf)
	w.buf = w.buf[:0]
	return err
}
