// Package paging bounds answers: how many bytes one may have, where a page ends, and the token that the next page goes on by.
package paging
