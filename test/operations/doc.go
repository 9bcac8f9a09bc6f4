// Package operations looks at the sidecar that ships as operators do: by its metrics, its traces and its log.
package operations
