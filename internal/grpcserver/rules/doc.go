// Package rules is the language in which the edge says what the fields of a message must obey: a table of rules for each message, limits
// that say themselves in words, a checker that gathers every fault by its path, and the book of all requests. It knows no message of the API.
package rules
