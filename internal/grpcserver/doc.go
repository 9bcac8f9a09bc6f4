// Package grpcserver is the edge: it validates requests, converts between the API's messages and the domain, asks the engine,
// and maps errors to codes. Each RPC has a file of its own, which holds its rules and its handler. No product rule lives here.
package grpcserver
