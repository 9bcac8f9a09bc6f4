// Package grpcserver is the edge: it admits, validates and logs calls, and maps errors to codes. The API's services are in packages
// beside it, one each, and so is what they share. No product rule lives here.
package grpcserver
