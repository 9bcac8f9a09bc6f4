// Package contentservice answers the calls of the ContentService: large contents, and what is found in them. Each RPC has a file of its
// own, which holds the rules of its request and its handler.
package contentservice
