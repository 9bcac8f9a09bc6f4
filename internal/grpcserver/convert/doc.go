// Package convert converts between the API's messages and the domain, both ways. It judges nothing: what it is given has been validated.
package convert
