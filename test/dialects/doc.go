// Package dialects plays conversations as providers' SDKs dump them, and holds the sidecar to giving back what came in: the next request
// has every message, item and content as the provider documents that it is sent back (behaviour §20.2), and is legal in all other formats.
//
// testdata has two kinds of files. A sequence, PROVIDER/NAME.json, is a conversation: its steps, and what the next request holds. A list
// of shapes, shapes/PROVIDER.json, is of one message each, of every kind that the newest SDK has a type for.
package dialects
