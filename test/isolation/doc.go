// Package isolation holds the sidecar to what no single package can promise: whoever calls sees what their credential opens, and nothing
// of what else there is.
package isolation
