// Package policyservice answers the calls of the PolicyService: model profiles, action policies and prompts. Each of the three has a file,
// which holds its rules and its handlers.
package policyservice
