// Package toolset defines the tools with which a model gets back what it no longer sees, once, and renders them for each provider.
//
// The tools are those that AnswerToolCall answers: expand_message, retrieve_content, search_conversation and, of a sidecar with a
// memory, search_memory. What they are called is
// said in pkg/conversation; what their arguments mean is said here, in the words that the model reads. Every request to a provider
// pays for these words, so they are few.
package toolset
