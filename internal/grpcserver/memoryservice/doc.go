// Package memoryservice answers the calls of the MemoryService: what is remembered across conversations. Each RPC has a file of its own,
// which holds the rules of its request and its handler.
package memoryservice
