// Package schema holds the rules of the API's messages that several requests share: messages and their parts, policies, expirations, ids
// and ranges. The rules of a request itself stand beside its handler.
package schema
