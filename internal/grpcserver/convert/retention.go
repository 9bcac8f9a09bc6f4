package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func fromRetention(r *pb.Retention) conversation.Retention {
	switch policy := r.GetPolicy().(type) {
	case *pb.Retention_Permanent:
		return conversation.Retention{Kind: conversation.RetentionPermanent}
	case *pb.Retention_KeepLast:
		return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: policy.KeepLast}
	default:
		return conversation.Retention{}
	}
}

func toRetention(r conversation.Retention) *pb.Retention {
	switch r.Kind {
	case conversation.RetentionPermanent:
		return &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}}
	case conversation.RetentionKeepLast:
		return &pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: r.Last}}
	default:
		return nil
	}
}
