package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.BatchAppendItem;
import java.io.Serializable;

/** What was to go on record, and was refused. */
public final class RefusedItem implements Serializable {
  private static final long serialVersionUID = 1L;

  private final int index;
  private final BatchAppendItem item;

  RefusedItem(int index, BatchAppendItem item) {
    this.index = index;
    this.item = item;
  }

  /** Which it was of all that waited, counted from 0 in the order in which it was said. */
  public int index() {
    return index;
  }

  /** What was said, as it was given: a message, or a provider's JSON. */
  public BatchAppendItem item() {
    return item;
  }
}
