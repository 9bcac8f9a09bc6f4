// Package conversationservice answers the calls of the ConversationService: conversations, and what is on record of them. Each RPC has a
// file of its own, which holds the rules of its request and its handler.
package conversationservice
