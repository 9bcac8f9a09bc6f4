// Package admission bounds what requests, answers and imports in flight may take together. It receives each message from below gRPC's own
// reading, so that its bytes and elements are admitted before they are in memory, and sees each large one on its way to its client.
package admission
