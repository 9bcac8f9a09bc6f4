package security

import (
	"net"
	"net/http"
	"testing"
)

func TestStartPprof_ForeignHost_IsRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	stop, err := startPprof(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for host, want := range map[string]int{address: http.StatusOK, "rebound.example:6060": http.StatusMisdirectedRequest, "rebound.example": http.StatusMisdirectedRequest} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/debug/pprof/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, answer.StatusCode, want)
		}
	}
}
