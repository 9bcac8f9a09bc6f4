package contentservice

import (
	"encoding/hex"
	"errors"
	"io"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func storeContentRules() rules.Table[*pb.StoreContentRequest] {
	return rules.Table[*pb.StoreContentRequest]{
		rules.Either("piece", func(r *pb.StoreContentRequest) bool { return r.GetPiece() != nil }),
		rules.Message("header", (*pb.StoreContentRequest).GetHeader, headerRules()),
		rules.Data("chunk", rules.AtMostBytes(maxChunkBytes), (*pb.StoreContentRequest).GetChunk),
	}
}

// StoreContent keeps what the caller streams.
func (s *Service) StoreContent(stream grpc.ClientStreamingServer[pb.StoreContentRequest, pb.StoreContentResponse]) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return rules.Violation("header", "is required in the first piece")
	}
	result, err := s.engine.StoreContent(stream.Context(), engine.StoreContentRequest{
		Key:         convert.Key(stream.Context(), header.GetConversationId()),
		Request:     convert.FromRequest(header),
		RunID:       header.GetRunId(),
		Type:        conversation.SourceType(header.GetSourceType()),
		URL:         header.GetSourceUrl(),
		Title:       header.GetSourceTitle(),
		ContentType: header.GetContentType(),
		Metadata:    header.GetMetadataJson(),
		SHA256:      fromDigest(header.GetSha256()),
		Reuse:       header.GetReuse(),
		Next:        func() ([]byte, error) { return nextChunk(stream.Recv) },
	})
	if err != nil {
		return err
	}
	return stream.SendAndClose(toStoreResponse(result))
}

// nextChunk receives the next bytes. Nothing is received before they are asked for: that is what holds a fast sender back.
func nextChunk(recv func() (*pb.StoreContentRequest, error)) ([]byte, error) {
	piece, err := recv()
	switch {
	case err != nil:
		return nil, err
	case piece.GetHeader() != nil:
		return nil, rules.Violation("header", "must stand in the first piece alone")
	default:
		return piece.GetChunk(), nil
	}
}

func toStoreResponse(r *engine.StoreContentResult) *pb.StoreContentResponse {
	return &pb.StoreContentResponse{
		Citation:  convert.ToCitation(r.Cited),
		Events:    convert.Each(r.Events, convert.ToEvent),
		Revision:  r.Revision,
		Duplicate: r.Duplicate,
		Shared:    r.Shared,
	}
}

func headerRules() rules.Table[*pb.StoreContentHeader] {
	return rules.Table[*pb.StoreContentHeader]{
		schema.ConversationID("conversation_id", (*pb.StoreContentHeader).GetConversationId),
		rules.Text("run_id", schema.OptionalNameLimit(), (*pb.StoreContentHeader).GetRunId),
		rules.Enum("source_type", (*pb.StoreContentHeader).GetSourceType),
		rules.Text("source_url", rules.AtMostBytes(2048), (*pb.StoreContentHeader).GetSourceUrl),
		rules.ShownName("source_title", schema.OptionalNameLimit(), (*pb.StoreContentHeader).GetSourceTitle),
		rules.Text("content_type", schema.OptionalNameLimit(), (*pb.StoreContentHeader).GetContentType),
		rules.OptionalText("metadata_json", rules.AtMostBytes(8192), (*pb.StoreContentHeader).GetMetadataJson, rules.JSONObject),
		schema.RequestID((*pb.StoreContentHeader).GetRequestId),
		digest("sha256", (*pb.StoreContentHeader).GetSha256),
		rules.Anything[*pb.StoreContentHeader]("reuse"),
	}
}

// digest is a SHA-256 in hexadecimal digits, or nothing.
func digest[M any](field string, get func(M) string) rules.Rule[M] {
	const form = "64 hexadecimal digits"
	return rules.Rule[M]{Facts: rules.Facts{Field: field, Limits: []string{form}}, Check: func(c *rules.Checker, m M) {
		if s := get(m); s != "" && fromDigest(s) == nil {
			c.Fail("must be %s", form)
		}
	}}
}

// fromDigest reads a SHA-256; nil if the text is none.
func fromDigest(s string) *[32]byte {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 32 {
		return nil
	}
	return (*[32]byte)(raw)
}

// A piece of what StoreContent stores.
const maxChunkBytes = 4 << 20
