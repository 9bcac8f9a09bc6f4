// Package history finds a conversation's record in a caller's whole list of messages, and says where the list goes on after it. Lists come from
// frameworks, which rewrite ids, merge and split neighbors, leave reasoning out, cut the front off, and hand back views as if they were the
// conversation. It is pure: the same list and record always give the same answer.
package history
