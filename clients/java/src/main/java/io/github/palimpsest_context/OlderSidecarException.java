package io.github.palimpsest_context;

/** The sidecar is older than the package: it does not know all that the package asks for. */
public final class OlderSidecarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OlderSidecarException(String theirs, String ours) {
    super("the sidecar is " + theirs + ", and this package wants " + ours + " or newer");
  }
}
