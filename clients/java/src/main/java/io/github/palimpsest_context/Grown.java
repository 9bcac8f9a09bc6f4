package io.github.palimpsest_context;

import java.util.LinkedHashMap;
import java.util.Map;

/** An object of which texts come in pieces. Values stay as they stand in JSON. */
final class Grown {
  private final Map<String, StringBuilder> members = new LinkedHashMap<>();

  Grown() {}

  Grown(Map<String, String> members) {
    members.forEach(this::put);
  }

  void put(String member, String value) {
    members.put(member, new StringBuilder(value));
  }

  /** Adds what pieces say: a text to a text, all else in its place. */
  void grow(Map<String, String> pieces) {
    pieces.forEach(this::grow);
  }

  void grow(String member, String piece) {
    StringBuilder before = members.get(member);
    if (before != null && isText(before) && isText(piece)) {
      before.setLength(before.length() - 1);
      before.append(piece, 1, piece.length());
    } else if (!piece.equals("null")) {
      put(member, piece);
    }
  }

  private static boolean isText(CharSequence value) {
    return value.length() > 1 && value.charAt(0) == '"';
  }

  boolean has(String member) {
    return members.containsKey(member);
  }

  /** A member as it stands; empty if it is absent. */
  String get(String member) {
    StringBuilder value = members.get(member);
    return value == null ? "" : value.toString();
  }

  /** Whether a member is a text, and not an empty one. */
  boolean says(String member) {
    StringBuilder value = members.get(member);
    return value != null && isText(value) && value.length() > 2;
  }

  String json() {
    return Json.object(members);
  }
}
