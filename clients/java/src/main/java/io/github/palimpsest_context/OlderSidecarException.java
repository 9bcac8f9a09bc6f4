package io.github.palimpsest_context;

import io.grpc.Status;

/** The sidecar is older than the package: it does not know all that the package asks for. */
public final class OlderSidecarException extends PalimpsestException {
  private static final long serialVersionUID = 1L;

  OlderSidecarException(String theirs, String ours) {
    super(
        Status.Code.FAILED_PRECONDITION,
        "the sidecar is " + theirs + ", and this package wants " + ours + " or newer: update the sidecar, or take an older package",
        null);
  }
}
