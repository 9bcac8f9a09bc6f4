package dial

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// Reason is the reason that an error of the sidecar's carries, or "".
func Reason(err error) string { return Detail[*errdetails.ErrorInfo](err).GetReason() }

// Detail is what an error of the sidecar's carries of a kind; nil if it carries none.
func Detail[D any](err error) (found D) {
	for _, d := range status.Convert(err).Details() {
		if d, ok := d.(D); ok {
			return d
		}
	}
	return found
}
