package io.github.palimpsest_context;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** As much of JSON as the client needs: values are cut out of it as they stand, so that nothing changes on its way. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** The members of an object, each value as it stands. */
  static Map<String, String> members(String object) {
    Json json = new Json(object);
    Map<String, String> members = new LinkedHashMap<>();
    json.expect('{');
    while (!json.closes('}')) {
      String key = string(json.value());
      json.expect(':');
      members.put(key, json.value());
    }
    return members;
  }

  /** The elements of an array, each as it stands. */
  static List<String> elements(String array) {
    Json json = new Json(array);
    List<String> elements = new ArrayList<>();
    json.expect('[');
    while (!json.closes(']')) {
      elements.add(json.value());
    }
    return elements;
  }

  /** The elements of a member that may be absent or null. */
  static List<String> elements(Map<String, String> of, String member) {
    String value = of.getOrDefault(member, "null");
    return value.equals("null") ? List.of() : elements(value);
  }

  /** The text of a member; empty if it is absent or no text. */
  static String string(Map<String, String> of, String member) {
    String value = of.getOrDefault(member, "");
    return value.startsWith("\"") ? string(value) : "";
  }

  /** The text of a string as it stands in JSON. */
  static String string(String value) {
    StringBuilder out = new StringBuilder();
    for (int i = 1; i < value.length() - 1; i++) {
      char c = value.charAt(i);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      c = value.charAt(++i);
      int plain = "bfnrt".indexOf(c);
      if (c == 'u') {
        out.append((char) Integer.parseInt(value.substring(i + 1, i + 5), 16));
        i += 4;
      } else {
        out.append(plain < 0 ? c : "\b\f\n\r\t".charAt(plain));
      }
    }
    return out.toString();
  }

  static String object(Map<String, ? extends CharSequence> members) {
    return members.entrySet().stream().map(m -> write(m.getKey()) + ":" + m.getValue()).collect(Collectors.joining(",", "{", "}"));
  }

  static String array(List<? extends CharSequence> elements) {
    return "[" + String.join(",", elements) + "]";
  }

  /** Writes a String, a Number, a Boolean, null, a List or a Map. */
  static String write(Object value) {
    if (value instanceof String) {
      return quote((String) value);
    }
    if (value instanceof List) {
      return array(((List<?>) value).stream().map(Json::write).collect(Collectors.toList()));
    }
    if (value instanceof Map) {
      Map<String, String> members = new LinkedHashMap<>();
      ((Map<?, ?>) value).forEach((key, member) -> members.put((String) key, write(member)));
      return object(members);
    }
    if (value == null || value instanceof Boolean || value instanceof Number && Double.isFinite(((Number) value).doubleValue())) {
      return String.valueOf(value);
    }
    throw new IllegalArgumentException("JSON has no " + value.getClass().getName() + ", or not this one: give texts, finite numbers, booleans, lists and maps");
  }

  private static String quote(String value) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private void expect(char c) {
    skipSpace();
    if (at >= text.length() || text.charAt(at) != c) {
      throw new IllegalArgumentException("the JSON lacks " + c + " at " + at);
    }
    at++;
  }

  /** Whether the list ends here; if not, the next entry does begin here. */
  private boolean closes(char end) {
    skipSpace();
    if (at < text.length() && text.charAt(at) == ',') {
      at++;
      return false;
    }
    if (at < text.length() && text.charAt(at) == end) {
      at++;
      return true;
    }
    if (at >= text.length()) {
      throw new IllegalArgumentException("the JSON ends early");
    }
    return false;
  }

  /** The value that begins here, as it stands. */
  private String value() {
    skipSpace();
    int begin = at;
    int depth = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '"') {
        skipString();
      } else if (c == '{' || c == '[') {
        depth++;
        at++;
      } else if (c == '}' || c == ']') {
        if (depth == 0) {
          break;
        }
        depth--;
        at++;
      } else if (depth == 0 && ",: \t\r\n".indexOf(c) >= 0) {
        break;
      } else {
        at++;
        continue;
      }
      if (depth == 0) {
        break;
      }
    }
    if (begin == at) {
      throw new IllegalArgumentException("the JSON lacks a value at " + at);
    }
    return text.substring(begin, at);
  }

  private void skipString() {
    at++;
    while (at < text.length() && text.charAt(at) != '"') {
      at += text.charAt(at) == '\\' ? 2 : 1;
    }
    if (at >= text.length()) {
      throw new IllegalArgumentException("the JSON ends within a text");
    }
    at++;
  }
}
