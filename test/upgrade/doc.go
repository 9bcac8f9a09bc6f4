// Package upgrade runs one version of the sidecar after another over one data folder: an upgrade, and a rollback. What either of them
// acknowledged is there under the other, byte for byte, contexts are built again with the same bytes, and a request id is a retry
// whichever version saw it first.
//
// PALIMPSEST_UPGRADE_FROM and PALIMPSEST_UPGRADE_TO name two binaries, which `make upgrade` builds; without them both are the sidecar
// of this repository. Below testdata lie stores that earlier versions have left; PALIMPSEST_KEEP_STORE=NAME adds one.
package upgrade
