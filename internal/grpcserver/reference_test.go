package grpcserver

import (
	"fmt"
	"os"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const errorsHead = `# Error reasons

For whoever handles errors in a client; what to do about each is in [clients.md](../clients.md#retries). Each error carries one ` + "`google.rpc.ErrorInfo`" + ` with
the domain ` + "`palimpsest.dev`" + ` and one of these reasons. Decide by the reason; the message is for people. ` + "`INVALID_FIELD`" + ` carries one
` + "`google.rpc.BadRequest`" + ` beside it, with a violation for each fault: the field's path, such as ` + "`message.parts[2].tool_call.call_id`" + `,
and what is wrong, never the value. Very long lists of violations end with one that says so.

What gRPC itself refuses before a call is read (a message over 16 MiB, invalid UTF-8) has no reason.

| reason | code | when |
|---|---|---|
`

// TestErrorsReference_IsWhatTheProtoSays holds docs/reference/errors.md to the comments of ErrorReason.
func TestErrorsReference_IsWhatTheProtoSays(t *testing.T) {
	const path = "../../docs/reference/errors.md"
	comments := protoComments(t)
	var b strings.Builder
	b.WriteString(errorsHead)
	values := pb.ErrorReason(0).Descriptor().Values()
	for i := 1; i < values.Len(); i++ {
		name := string(values.Get(i).Name())
		code, when, _ := strings.Cut(comments["palimpsest.v1."+name], ". ")
		if code == "" || when == "" {
			t.Errorf("%s is not documented", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimPrefix(name, "ERROR_REASON_"), code, when)
	}
	if os.Getenv("PALIMPSEST_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("%s has drifted from the proto (%v): run the test with PALIMPSEST_REWRITE=1", path, err)
	}
}
