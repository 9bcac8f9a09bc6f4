// Package helm holds the tests of deploy: the chart, linted and rendered by Helm as a library, and all manifests, plain and rendered,
// held against Kubernetes' own schemas and against the flags of the real binary. None of it needs a cluster or the network.
//
// It is a module of its own, so that Helm's dependencies never meet the sidecar's.
package helm
