package io.github.palimpsest_context;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Something that waited to go on record was refused. It waits no longer: mend it, and say it again. What else was said goes on record with
 * the next call.
 */
public final class RefusedItemsException extends PalimpsestException {
  private static final long serialVersionUID = 1L;

  private final List<RefusedItem> refused;

  RefusedItemsException(PalimpsestException why, List<RefusedItem> refused) {
    super(why, refused.stream().map(one -> String.valueOf(one.index())).collect(Collectors.joining(", ", "refused of what was said, by index: ", "")));
    this.refused = List.copyOf(refused);
  }

  /** What was refused, in the order in which it was said. */
  public List<RefusedItem> refused() {
    return refused;
  }
}
