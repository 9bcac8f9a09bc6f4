package grpcserver

import (
	"time"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
)

const (
	maxSendBytes = paging.MaxReplyBytes + 64<<10
	// What gRPC's other implementations take, twice.
	maxHeaderBytes = 32 << 10

	maxConcurrentStreams = 1024
	connectionTimeout    = 20 * time.Second
	keepaliveMinTime     = 10 * time.Second
	keepaliveTime        = 2 * time.Minute
	keepaliveTimeout     = 20 * time.Second
	// How long a connection may be without a call. Clients connect anew with their next; a watcher's stream is a call.
	connectionIdle = 15 * time.Minute
	// How long a connection takes new calls where clients have certificates: a handshake is what shows a new one. The calls that it has then go
	// on for as long as a watcher may stay.
	certifiedAge      = 15 * time.Minute
	certifiedAgeGrace = 24 * time.Hour
)
