package main

import (
	"slices"
	"strings"
)

// tolerated are faults of what frameworks send by themselves and providers take: in a script what counts is that the sidecar changes nothing
// of it. The judge holds what the sidecar writes to more.
var tolerated = []string{
	".id: lacks a required key", ".status: lacks a required key", ".detail: lacks a required key", // Responses: of items and images
	"thinking lacks its signature", "roles must alternate", // Gemini: summaries of thoughts that are sent back, and two users' contents
	".inlineData: has a key that the provider does not know", ".inlineData.mimeType: lacks a required key", // Gemini: mime_type
}

// intolerable are the faults for which a provider refuses what a framework sends.
func intolerable(faults []string) []string {
	return slices.DeleteFunc(slices.Clone(faults), func(fault string) bool {
		if strings.HasSuffix(fault, "which is not among the tools") {
			return true // what a handoff leaves behind
		}
		whose := strings.HasPrefix(fault, "input[") || strings.HasPrefix(fault, "contents[")
		return whose && slices.ContainsFunc(tolerated, func(end string) bool { return strings.HasSuffix(fault, end) })
	})
}
