package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// kinds are all reasons that the domain declares.
func kinds(t *testing.T) []conversation.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../pkg/conversation/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []conversation.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && fmt.Sprint(spec.Type) == "Kind" {
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is no literal", spec.Names[0])
			}
			kind, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, conversation.Kind(kind))
		}
		return true
	})
	return out
}

func TestCodeOf_EveryKind_IsAReasonOfTheAPIWithTheCodeItsCommentNames(t *testing.T) {
	comments := protoComments(t)
	declared := map[string]bool{"UNSPECIFIED": true}
	for _, kind := range kinds(t) {
		declared[string(kind)] = true
		code, ok := codeOf(kind)
		if !ok {
			t.Errorf("%s has no code", kind)
		}
		named, _, _ := strings.Cut(comments["palimpsest.v1.ERROR_REASON_"+string(kind)], ".")
		if first, _, _ := strings.Cut(named, " or "); first != codeName(code) {
			t.Errorf("%s answers %s, its comment says %q", kind, codeName(code), named)
		}
	}
	for name := range pb.ErrorReason_value {
		if !declared[strings.TrimPrefix(name, "ERROR_REASON_")] {
			t.Errorf("%s: nothing in the domain gives this reason", name)
		}
	}
}

// codeName is a code as the API's documents write it.
func codeName(c codes.Code) string {
	if c == codes.Canceled {
		return "CANCELLED"
	}
	var b strings.Builder
	for i, r := range c.String() {
		if i > 0 && 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

func TestToStatus_Errors_Map(t *testing.T) {
	cancelledInside := conversation.Errorf(conversation.Cancelled, "gave up").Because(context.DeadlineExceeded)
	for name, c := range map[string]struct {
		err        error
		code       codes.Code
		reason     string
		unexpected bool
	}{
		"domain":           {conversation.Errorf(conversation.TurnPassed, "x"), codes.FailedPrecondition, "TURN_PASSED", false},
		"wrapped":          {fmt.Errorf("y: %w", conversation.Errorf(conversation.TurnPassed, "x")), codes.FailedPrecondition, "TURN_PASSED", false},
		"cancelled":        {context.Canceled, codes.Canceled, "CANCELLED", false},
		"deadline":         {fmt.Errorf("y: %w", context.DeadlineExceeded), codes.DeadlineExceeded, "CANCELLED", false},
		"domain, deadline": {cancelledInside, codes.DeadlineExceeded, "CANCELLED", false},
		"unknown":          {errors.New("secret"), codes.Internal, "INTERNAL", true},
		"unknown kind":     {conversation.Errorf("NEW", "secret"), codes.Internal, "INTERNAL", true},
		"internal":         {conversation.Errorf(conversation.Internal, "secret"), codes.Internal, "INTERNAL", true},
		"engine, stream":   {conversation.Errorf(conversation.Internal, "x").Because(status.Error(codes.Canceled, "y")), codes.Canceled, "CANCELLED", false},
		"stream":           {status.Error(codes.DeadlineExceeded, "y"), codes.DeadlineExceeded, "CANCELLED", false},
		"stream, too much": {status.Error(codes.ResourceExhausted, "y"), codes.ResourceExhausted, "", false},
		"store":            {conversation.Errorf(conversation.StoreUnavailable, "x"), codes.Unavailable, "STORE_UNAVAILABLE", true},
	} {
		s, unexpected := toStatus(c.err)
		if s.Code() != c.code || unexpected != c.unexpected || ReasonOf(s.Err()) != c.reason || strings.Contains(s.Message(), "secret") {
			t.Errorf("%s: %s %q, reason %s, unexpected %v", name, s.Code(), s.Message(), ReasonOf(s.Err()), unexpected)
		}
	}
}

func TestToStatus_ManyViolations_AnswerFitsAnyClient(t *testing.T) {
	for _, n := range []int{1, 20, 256, 100 * 256} {
		c := &rules.Checker{}
		c.Enter("message")
		for i := range n {
			c.Element(i)
			c.FailIn("a_field_with_a_name", "must have 1 to 256 bytes")
			c.Leave()
		}
		s, _ := toStatus(c.Err())
		raw, err := proto.Marshal(s.Proto())
		if err != nil {
			t.Fatal(err)
		}
		if base64 := len(raw) * 4 / 3; base64 > 7000 {
			t.Errorf("%d violations take %d bytes of metadata", n, base64)
		}
		bad, ok := s.Details()[1].(*errdetails.BadRequest)
		if !ok {
			t.Fatalf("details %v", s.Details())
		}
		listed := bad.GetFieldViolations()
		last := listed[len(listed)-1].GetDescription()
		if counted := len(listed) == n || strings.HasPrefix(last, "and "); !counted {
			t.Errorf("%d violations: %d listed, the last says %q", n, len(listed), last)
		}
	}
}
