package contentservice

import (
	"encoding/hex"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func toSource(s engine.Source) *pb.SourceRecord {
	return &pb.SourceRecord{
		ContentId:     s.ContentID,
		SourceType:    pb.SourceType(s.Type),
		SourceUrl:     s.URL,
		SourceTitle:   s.Title,
		ContentType:   s.ContentType,
		TotalBytes:    s.Bytes,
		TotalChars:    s.Chars,
		Sha256:        toDigest(s.SHA256),
		AccessTime:    convert.ToTime(s.Accessed),
		CitedBy:       s.CitedBy,
		State:         toContentState(s.Expired),
		RunId:         s.RunID,
		MetadataJson:  s.Metadata,
		CitedAtAppend: s.AtAppend,
		ExpireTime:    convert.ToTime(s.Expires),
	}
}

func toDigest(sum *[32]byte) string {
	if sum == nil {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

func toContentState(expired bool) pb.ContentState {
	if expired {
		return pb.ContentState_CONTENT_STATE_EXPIRED
	}
	return pb.ContentState_CONTENT_STATE_STORED
}
