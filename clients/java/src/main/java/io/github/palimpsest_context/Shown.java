package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.HistoryResult;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/** What was shown last of a whole list, for the time in which the sidecar is away. */
final class Shown<V> {
  private HistoryResult front; // the list that was shown; null before the first
  private V view;
  private boolean shaped;

  void keep(List<String> elements, V view, boolean changed) {
    front = elements.isEmpty() ? HistoryResult.getDefaultInstance() : Lists.fronts(elements, 1).get(0);
    this.view = view;
    shaped |= changed;
  }

  /** The list as it is, if it was always shown so; else the last view and what is new; null where what was left out would come back. */
  V pass(List<String> elements, Supplier<V> plain, BiFunction<V, List<String>, V> behind) {
    if (front == null ? Lists.isFirst(elements) : !shaped) {
      return plain.get();
    }
    boolean goesOn = front != null && Lists.isFront(front, elements);
    return goesOn ? behind.apply(view, elements.subList(front.getKnownCount(), elements.size())) : null;
  }
}
