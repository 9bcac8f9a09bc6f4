"""The messages and services of the API, generated from its protos. They are no part of what the package promises."""
