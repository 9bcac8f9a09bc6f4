package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Domain is the domain of every ErrorInfo.
const Domain = "palimpsest.dev"

const internalText = "internal error: the sidecar's log says more"

// maxDetailBytes bounds the violations in one answer: they travel in a trailer, and gRPC's C core, under Python, Ruby and
// others, refuses metadata over 8 KiB, as base64 and with everything beside it.
const maxDetailBytes = 4500

// codeOf is the error table: each kind of the domain has one code. Cancelled has two, by the context's own error.
func codeOf(kind conversation.Kind) (codes.Code, bool) {
	switch kind {
	case conversation.InvalidField, conversation.ResultWithoutCall, conversation.ChecksumMismatch:
		return codes.InvalidArgument, true
	case conversation.ConversationNotFound, conversation.ConversationDeleted, conversation.MessageNotFound,
		conversation.ManifestNotFound, conversation.ModelProfileNotFound, conversation.ActionPolicyNotFound,
		conversation.PromptNotFound, conversation.SummaryNotFound, conversation.ContentNotFound, conversation.ContentExpired, conversation.ForgetNotFound:
		return codes.NotFound, true
	case conversation.ConversationExists, conversation.RequestIDReused:
		return codes.AlreadyExists, true
	case conversation.IndexMismatch, conversation.Contention:
		return codes.Aborted, true
	case conversation.PendingToolCalls, conversation.EmptyContext, conversation.NoMessages, conversation.ContextCannotFit, conversation.TurnPassed,
		conversation.ManifestNotRebuildable, conversation.NotEdited, conversation.OriginalErased, conversation.ExpansionTooLarge,
		conversation.NothingToCompact, conversation.AlreadyRewound, conversation.NothingToUndo, conversation.NotCorrectable, conversation.ContentNotText, conversation.RunEnded,
		conversation.MemoryDisabled, conversation.NoActor, conversation.HistoryDiverged, conversation.HistoryAmbiguous, conversation.HistoryPrefixUnknown:
		return codes.FailedPrecondition, true
	case conversation.ReplyTooLarge, conversation.LimitExceeded, conversation.StoreFull, conversation.Overloaded,
		conversation.QuotaExceeded:
		return codes.ResourceExhausted, true
	case conversation.StoreUnavailable, conversation.OutcomeUnknown, conversation.MemoryUnavailable:
		return codes.Unavailable, true
	case conversation.ResumeTokenExpired:
		return codes.OutOfRange, true
	case conversation.CorruptRecord:
		return codes.DataLoss, true
	case conversation.Unauthenticated:
		return codes.Unauthenticated, true
	case conversation.PermissionDenied:
		return codes.PermissionDenied, true
	case conversation.Cancelled:
		return codes.Canceled, true
	case conversation.Internal:
		return codes.Internal, true
	default:
		return codes.Internal, false
	}
}

// toStatus maps an error to what the caller sees. It says whether the error is one that the log must explain.
func toStatus(err error) (s *status.Status, unexpected bool) {
	var e *conversation.Error
	if errors.As(err, &e) {
		s, unexpected = fromDomain(e)
		return withMetadata(s, e), unexpected
	}
	if s := fromOutside(err); s != nil {
		return s, false
	}
	return withInfo(codes.Internal, internalText, conversation.Internal), true
}

func fromDomain(e *conversation.Error) (s *status.Status, unexpected bool) {
	code, known := codeOf(e.Kind)
	outside := fromOutside(e.Cause)
	switch {
	case e.Kind == conversation.Internal && outside != nil:
		// The engine cannot know what a stream that it reads from or writes to fails with.
		return outside, false
	case !known || e.Kind == conversation.Internal:
		return withInfo(codes.Internal, internalText, conversation.Internal), true
	case e.Kind == conversation.Cancelled:
		return cancelled(e), false
	case e.Kind == conversation.Overloaded:
		return withInfo(code, e.Error(), e.Kind, &errdetails.RetryInfo{RetryDelay: durationpb.New(admission.RetryAfter)}), false
	case e.Quota != nil:
		return withInfo(code, e.Error(), e.Kind, quotaFailure(e), &errdetails.RetryInfo{RetryDelay: durationpb.New(e.Quota.RetryAfter)}), false
	case len(e.Violations) > 0:
		return withInfo(code, e.Error(), e.Kind, badRequest(e.Violations)), false
	default:
		return withInfo(code, e.Error(), e.Kind), code == codes.DataLoss || code == codes.Unavailable
	}
}

// withMetadata adds to a status what its ErrorInfo says beside the reason.
func withMetadata(s *status.Status, e *conversation.Error) *status.Status {
	metadata := metadataOf(e)
	if len(metadata) == 0 {
		return s
	}
	told := s.Proto()
	for i, detail := range told.GetDetails() {
		info := &errdetails.ErrorInfo{}
		if !detail.MessageIs(info) || detail.UnmarshalTo(info) != nil {
			continue
		}
		info.Metadata = metadata
		if packed, err := anypb.New(info); err == nil {
			told.Details[i] = packed
		}
	}
	return status.FromProto(told)
}

// metadataOf is what a program may want to know of an error beside its reason.
func metadataOf(e *conversation.Error) map[string]string {
	out := map[string]string{}
	if e.NothingAppended {
		out["appended"] = "false"
	}
	if d := e.Divergence; d != nil {
		out["list_index"] = strconv.Itoa(int(d.Element))
		out["message_index"] = strconv.Itoa(int(d.Message))
	}
	if len(e.Known) > 0 {
		out["known_counts"] = strings.Trim(fmt.Sprint(e.Known), "[]")
	}
	return out
}

func cancelled(err error) *status.Status {
	if errors.Is(err, context.DeadlineExceeded) {
		return withInfo(codes.DeadlineExceeded, "the deadline passed", conversation.Cancelled)
	}
	return withInfo(codes.Canceled, "the caller gave up", conversation.Cancelled)
}

// fromOutside knows the errors that are nobody's fault in here: the caller's context, and what gRPC itself gave to a handler
// that sends or receives. Nothing below the edge makes a status. It is nil for all others.
func fromOutside(err error) *status.Status {
	var transport interface{ GRPCStatus() *status.Status }
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return cancelled(err)
	case !errors.As(err, &transport):
		return nil
	}
	switch given := transport.GRPCStatus(); given.Code() {
	case codes.Canceled:
		return cancelled(context.Canceled)
	case codes.DeadlineExceeded:
		return cancelled(context.DeadlineExceeded)
	default:
		return given
	}
}

func withInfo(code codes.Code, text string, kind conversation.Kind, more ...protoadapt.MessageV1) *status.Status {
	info := &errdetails.ErrorInfo{Domain: Domain, Reason: string(kind)}
	s, err := status.New(code, text).WithDetails(append([]protoadapt.MessageV1{info}, more...)...)
	if err != nil {
		return status.New(code, text)
	}
	return s
}

// badRequest lists the violations, as many as an answer can carry, and says so if there are more.
func badRequest(violations []conversation.Violation) *errdetails.BadRequest {
	out := &errdetails.BadRequest{}
	for i, v := range violations {
		out.FieldViolations = append(out.FieldViolations, fieldViolation(v))
		if proto.Size(out) > maxDetailBytes {
			out.FieldViolations[i] = &errdetails.BadRequest_FieldViolation{Description: "and more than an answer can hold"}
			return out
		}
	}
	return out
}

func fieldViolation(v conversation.Violation) *errdetails.BadRequest_FieldViolation {
	return &errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Text}
}

// quotaFailure names the limit that refused. No caller is named by it: its subject is the limit alone.
func quotaFailure(e *conversation.Error) *errdetails.QuotaFailure {
	return &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: e.Quota.Limit, Description: e.Text}}}
}

// ReasonOf is the reason that a status carries, for logs and traces; empty if it carries none.
func ReasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
