// Package contextservice answers the calls of the ContextService: what is appended, and what the model should see. Each RPC has a file of
// its own, which holds the rules of its request and its handler.
package contextservice
