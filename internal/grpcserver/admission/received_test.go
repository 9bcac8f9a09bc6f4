package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestReceived_Failures_HaveTheirCodes: a deadline that passes while a request comes in is no fault of the server's.
func TestReceived_Failures_HaveTheirCodes(t *testing.T) {
	for err, want := range map[error]codes.Code{
		context.DeadlineExceeded:                      codes.DeadlineExceeded,
		fmt.Errorf("reading: %w", context.Canceled):   codes.Canceled,
		errors.New("a broken frame"):                  codes.Internal,
		status.Error(codes.ResourceExhausted, "full"): codes.ResourceExhausted,
	} {
		if got := status.Code(received(err)); got != want {
			t.Errorf("%v is told as %v, want %v", err, got, want)
		}
	}
	if !errors.Is(received(io.EOF), io.EOF) {
		t.Error("the end of a stream is told as a failure")
	}
}
