// Package shared tests several sidecars on one database: together they give the guarantees of one.
package shared
