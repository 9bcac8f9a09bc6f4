package conversationservice

import (
	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/exportformat"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func exportConversationRules() rules.Table[*pb.ExportConversationRequest] {
	return rules.Table[*pb.ExportConversationRequest]{
		schema.ConversationID("conversation_id", (*pb.ExportConversationRequest).GetConversationId),
	}
}

// What an export takes: the largest message there can be, as it is and as a line.
const costOfExport = 4 * schema.MaxContentBytes

// ExportConversation streams everything on record.
func (s *Service) ExportConversation(req *pb.ExportConversationRequest, stream grpc.ServerStreamingServer[pb.ExportConversationResponse]) error {
	if err := admission.ExchangeOf(stream.Context()).AdmitStream(costOfExport); err != nil {
		return err
	}
	chunks := &chunkWriter{send: func(chunk []byte) error {
		return stream.Send(&pb.ExportConversationResponse{Chunk: chunk})
	}}
	export := exportformat.NewWriter(chunks)
	if err := s.engine.Export(stream.Context(), convert.Key(stream.Context(), req.GetConversationId()), export.Write); err != nil {
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

const exportChunkBytes = 1 << 20
