package main

import (
	"slices"
	"strings"
)

// tolerated are faults of what frameworks send by themselves and providers take: in a script what counts is that the sidecar changes nothing
// of it. The judge holds what the sidecar writes to more.
var tolerated = []string{
	".id: lacks a required key", ".status: lacks a required key", ".detail: lacks a required key", // Responses: of items and images
	"thinking lacks its signature",                                                                         // Gemini: summaries of thoughts that are sent back
	"roles must alternate",                                                                                 // Gemini and Anthropic, which join them
	".inlineData: has a key that the provider does not know", ".inlineData.mimeType: lacks a required key", // Gemini: mime_type
	".fileData: has a key that the provider does not know", ".fileData.fileUri: lacks a required key", ".fileData.mimeType: lacks a required key",
	"which is not among the tools", // what a handoff leaves behind
}

// toleratedInMessages are those of Chat Completions and Anthropic.
var toleratedInMessages = []string{
	"roles must alternate",
	".image_url: has a key that the provider does not know", // Chat: the format of an image
	"which is not among the tools",
}

// intolerable are the faults for which a provider refuses what a framework sends.
func intolerable(faults []string) []string {
	return slices.DeleteFunc(slices.Clone(faults), func(fault string) bool {
		ends := tolerated
		if strings.HasPrefix(fault, "messages[") {
			ends = toleratedInMessages
		}
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(fault, end) })
	})
}
