package io.github.palimpsest_context;

/** One fault of a request. */
public final class Violation {
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

  public String description() {
    return description;
  }

  @Override
  public String toString() {
    return field + ": " + description;
  }
}
