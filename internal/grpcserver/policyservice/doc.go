// Package policyservice answers the calls of the PolicyService: model profiles, action policies and prompts. Each RPC has a file of its own,
// which holds the rules of its request and its handler.
package policyservice
