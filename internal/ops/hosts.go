package ops

import (
	"net"
	"net/http"

	"github.com/palimpsest-context/palimpsest/internal/listen"
)

// LocalHosts answers requests for a host on loopback with its port, and no others: a page in a browser whose name was made to lead here is
// not let in.
func LocalHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err != nil || !listen.IsLoopback(host) {
			refuse(w, r, http.StatusMisdirectedRequest, "the host must be a loopback address")
			return
		}
		next.ServeHTTP(w, r)
	})
}
