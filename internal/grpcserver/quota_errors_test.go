package grpcserver

import (
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestToStatus_QuotaExceeded_NamesTheLimitAndWhenToComeAgain: a client can tell which limit refused it, and when to come again, without
// reading the text.
func TestToStatus_QuotaExceeded_NamesTheLimitAndWhenToComeAgain(t *testing.T) {
	err := conversation.Errorf(conversation.QuotaExceeded, "this namespace may hold 3 conversations").OverQuota("conversations", 7*time.Second)
	s, unexpected := toStatus(err)
	if s.Code() != codes.ResourceExhausted || unexpected || ReasonOf(s.Err()) != "QUOTA_EXCEEDED" {
		t.Fatalf("%s, reason %s, unexpected %v", s.Code(), ReasonOf(s.Err()), unexpected)
	}
	var limit string
	var delay time.Duration
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.QuotaFailure:
			limit = d.GetViolations()[0].GetSubject()
		case *errdetails.RetryInfo:
			delay = d.GetRetryDelay().AsDuration()
		}
	}
	if limit != "conversations" || delay != 7*time.Second {
		t.Errorf("the details name the limit %q and the delay %s", limit, delay)
	}
}
