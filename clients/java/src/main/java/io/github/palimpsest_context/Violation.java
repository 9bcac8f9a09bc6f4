package io.github.palimpsest_context;

import java.io.Serializable;

/** One fault of a request. */
public final class Violation implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String field;
  private final String description;

  Violation(String field, String description) {
    this.field = field;
    this.description = description;
  }

  /** The field's path. */
  public String field() {
    return field;
  }

  /** What is wrong with it. */
  public String description() {
    return description;
  }

  @Override
  public String toString() {
    return field + ": " + description;
  }
}
