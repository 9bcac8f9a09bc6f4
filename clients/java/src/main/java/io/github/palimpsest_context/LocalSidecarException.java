package io.github.palimpsest_context;

/** A sidecar could not be started on this machine. */
public final class LocalSidecarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LocalSidecarException(String message, Throwable cause) {
    super(message, cause);
  }
}
