package io.github.palimpsest_context;

import io.grpc.Status;

/** A sidecar could not be started on this machine. The message ends with what it logged last. */
public final class LocalSidecarException extends PalimpsestException {
  private static final long serialVersionUID = 1L;

  LocalSidecarException(String message, Throwable cause) {
    super(Status.Code.UNAVAILABLE, message, cause);
  }
}
