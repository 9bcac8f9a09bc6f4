// Package metrics is what the sidecar measures, for Prometheus. Labels are of closed sets: methods from the API's descriptors, codes,
// mechanisms, namespaces from the configuration. No id, no text and no name from a request is ever one.
package metrics
