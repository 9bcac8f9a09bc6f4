// Package tracing makes OpenTelemetry traces of calls: what each did, for how long, and how it ended. Spans have names and attributes of
// closed sets, and numbers: no id of a conversation, and no text. Exporting them never makes a call wait.
package tracing
