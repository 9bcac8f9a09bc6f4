package config

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Vars are the values of flags that are known elsewhere in the program.
func Vars() kong.Vars {
	return kong.Vars{
		"state_dir":    stateDir(),
		"cache_size":   defaultCacheSize.String(),
		"target":       strconv.Itoa(conversation.DefaultTargetPercent),
		"policies":     strings.Join(append(policies.Names(), policies.Default), ", "),
		"result_share": strconv.Itoa(conversation.DefaultMaxResultPercent),

		"content_cache_bytes":             defaultContentCacheBytes.String(),
		"summary_deadline":                defaultSummaryDeadline.String(),
		"summary_tokens_per_minute":       strconv.Itoa(defaultSummaryTokensPerMinute),
		"summary_tokens_per_conversation": strconv.Itoa(defaultSummaryTokensPerConversation),
	}
}

// stateDir is where data lies by default: where the XDG rules put what a user's programs keep.
func stateDir() string {
	if dir := lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "palimpsest")
	}
	if home := homeDir(); home != "" {
		return filepath.Join(home, ".local", "state", "palimpsest")
	}
	return ""
}
