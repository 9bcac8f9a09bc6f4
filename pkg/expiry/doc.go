// Package expiry decides by turns which parts of a view have expired, and which settings determine that (behaviour §5). It is pure: it
// decides on what it is given and changes nothing.
package expiry
