package inspect

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// The reasons that a hint is given for; see ErrorReason in the contract.
const (
	reasonNoConversation = "CONVERSATION_NOT_FOUND"
	reasonNoContent      = "CONTENT_NOT_FOUND"
)

// describeError says an error of gRPC's for people: with its reason, what was wrong with which field, and what to do.
func describeError(address string, err error) error {
	var carrier interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &carrier) {
		return err
	}
	answer, reason := carrier.GRPCStatus(), dial.Reason(err)
	words := sheet.Plain(answer.Message(), maxErrorBytes, false)
	for _, v := range dial.Detail[*errdetails.BadRequest](err).GetFieldViolations() {
		if strings.Contains(answer.Message(), v.GetField()+": "+v.GetDescription()) {
			continue // the sidecar's message says its first violation itself
		}
		words += sheet.Plain(fmt.Sprintf("; %s %s", v.GetField(), v.GetDescription()), maxErrorBytes, false)
	}
	switch {
	case reason == reasonNoConversation:
		return fmt.Errorf("%s: %s; `sidecar conversations` lists those on record", reason, words)
	case reason == reasonNoContent:
		return fmt.Errorf("%s: %s; `sidecar sources` lists those of a conversation", reason, words)
	case reason != "":
		return fmt.Errorf("%s: %s", sheet.Plain(reason, maxErrorBytes, false), words)
	case answer.Code() == codes.DeadlineExceeded:
		return fmt.Errorf("%s gave no answer in time; --timeout waits longer", address)
	case answer.Code() == codes.Unavailable:
		return fmt.Errorf("%s does not answer: %s; is a sidecar listening there? --address names another", address, cause(words))
	default:
		return fmt.Errorf("%s: %s", strings.ToLower(answer.Code().String()), words)
	}
}

// cause is the end of what gRPC says of a connection: all before it says that it is one.
func cause(words string) string {
	return strings.Trim(words[strings.LastIndex(words, ": ")+1:], ` "`)
}

// maxErrorBytes bounds what is printed of a text that came with an error.
const maxErrorBytes = 2048

// errSummary is the error of asking for a message's life by the id of a summary.
var errSummary = errors.New("a summary has no life of its own: `sidecar expand` prints what it stands for")
