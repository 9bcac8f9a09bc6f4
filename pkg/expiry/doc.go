// Package expiry decides by turns what of a view is past its time, and where the settings for that come from (behaviour §5). It
// is pure: it decides on what it is given and changes nothing.
package expiry
