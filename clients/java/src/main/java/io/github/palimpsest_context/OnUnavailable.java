package io.github.palimpsest_context;

/** What happens while the sidecar is away. */
public enum OnUnavailable {
  /** Calls fail. */
  RAISE,
  /**
   * The model is asked all the same: a whole list passes as it is, if this conversation was never shown otherwise, else as the last view and
   * what is new behind it; a reply goes on record later. Where that cannot be known, the call fails: what was left out must not come back.
   */
  PASS
}
