package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.ViewPiece;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A run of neighbors in a view. Of a whole piece the caller sends its own objects, those at {@link #indexes} of its list; of all others it
 * sends {@link #shown}.
 */
public final class Piece {
  /** What a piece is to the caller's list: see ViewPieceKind of the API. */
  public enum Kind {
    WHOLE,
    CHANGED,
    SUMMARY,
    MADE_UP,
    RECORDED
  }

  private final Kind kind;
  private final List<Integer> indexes;
  private final List<String> shown;

  private Piece(Kind kind, List<Integer> indexes, List<String> shown) {
    this.kind = kind;
    this.indexes = indexes;
    this.shown = shown;
  }

  /** A piece of a list, and of what was sent of it: what stood in for elements that are too large for a request is what is shown. */
  static List<Piece> of(ViewPiece piece, List<String> elements, List<String> sent) {
    Kind kind = Kind.valueOf(piece.getKind().name().replace("VIEW_PIECE_KIND_", ""));
    List<Piece> all = new ArrayList<>();
    List<Integer> run = new ArrayList<>();
    for (int at : piece.getListIndexesList()) {
      if (kind != Kind.WHOLE || sent.get(at).equals(elements.get(at))) {
        run.add(at);
        continue;
      }
      all.add(new Piece(Kind.WHOLE, run, List.of()));
      all.add(new Piece(Kind.CHANGED, List.of(at), List.of(sent.get(at))));
      run = new ArrayList<>();
    }
    all.add(new Piece(kind, run, piece.getJson().isEmpty() ? List.of() : Json.elements(piece.getJson())));
    all.removeIf(one -> one.whole() && one.indexes.isEmpty());
    return all;
  }

  /** A view with the rest of a list behind it, from an index on. */
  static List<Piece> behind(List<Piece> view, int from, int end) {
    List<Piece> all = new ArrayList<>(view);
    all.add(new Piece(Kind.WHOLE, IntStream.range(from, end).boxed().collect(Collectors.toList()), List.of()));
    return all;
  }

  /** What it is to the list. */
  public Kind kind() {
    return kind;
  }

  /** Whether the caller's own objects stand in the view. */
  public boolean whole() {
    return kind == Kind.WHOLE;
  }

  /** The elements of the list that it shows or stands for, counted from 0. */
  public List<Integer> indexes() {
    return indexes;
  }

  /** What is shown in place of the list's elements, each in JSON of the list's format; none of a whole piece. */
  public List<String> shown() {
    return shown;
  }
}
