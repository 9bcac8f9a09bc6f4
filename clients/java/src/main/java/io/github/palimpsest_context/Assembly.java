package io.github.palimpsest_context;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Makes one reply of the events of a stream. */
abstract class Assembly {
  static Assembly of(Format format) {
    switch (format) {
      case OPENAI:
        return new Chat();
      case RESPONSES:
        return new Responses();
      case ANTHROPIC:
        return new Anthropic();
      default:
        return new Gemini();
    }
  }

  abstract void feed(Map<String, String> event);

  /** What there is so far; null if that is nothing. */
  abstract String reply();

  /** Whether the reply has ended. */
  abstract boolean whole();

  private static Map<String, String> object(Map<String, String> of, String member) {
    String value = of.getOrDefault(member, "null");
    return value.equals("null") ? Map.of() : Json.members(value);
  }

  private static int index(Map<String, String> of, String member) {
    return Integer.parseInt(of.getOrDefault(member, "0"));
  }

  private static final class Chat extends Assembly {
    private final Map<String, String> head = new LinkedHashMap<>(); // what chunks say beside their choices
    private final Grown message = new Grown();
    private final List<Asked> calls = new ArrayList<>();
    private String finished = "null";

    Chat() {
      message.put("role", "\"assistant\"");
      message.put("content", "null");
    }

    @Override
    void feed(Map<String, String> chunk) {
      List<String> choices = Json.elements(chunk, "choices");
      chunk.remove("choices");
      chunk.values().removeIf("null"::equals);
      head.putAll(chunk);
      head.put("object", "\"chat.completion\"");
      for (String one : choices) {
        Map<String, String> choice = Json.members(one);
        String reason = choice.getOrDefault("finish_reason", "null");
        finished = reason.equals("null") ? finished : reason;
        Map<String, String> delta = new LinkedHashMap<>(object(choice, "delta"));
        Json.elements(delta, "tool_calls").forEach(call -> grow(Json.members(call)));
        delta.keySet().removeAll(List.of("tool_calls", "role"));
        message.grow(delta);
      }
    }

    /** Adds to the call at an index. Another id at the same index is another call: some servers give all of them the same. */
    private void grow(Map<String, String> piece) {
      int index = index(piece, "index");
      String id = Json.string(piece, "id");
      Asked into = null;
      for (Asked call : calls) {
        into = call.index == index ? call : into;
      }
      if (into == null || !id.isEmpty() && !into.id.isEmpty() && !id.equals(into.id)) {
        into = new Asked(index);
        calls.add(into);
      }
      into.id = id.isEmpty() ? into.id : id;
      into.grow(piece);
    }

    @Override
    boolean whole() {
      return !finished.equals("null");
    }

    @Override
    String reply() {
      if (head.isEmpty()) {
        return null;
      }
      List<String> asked = new ArrayList<>();
      calls.stream().filter(call -> whole() || call.begun()).forEach(call -> asked.add(call.json()));
      if (!asked.isEmpty()) {
        message.put("tool_calls", Json.array(asked));
      }
      if (message.get("content").equals("\"\"")) {
        message.put("content", "null");
      }
      Map<String, String> reply = new LinkedHashMap<>(head);
      reply.put("choices", "[{\"index\":0,\"message\":" + message.json() + ",\"finish_reason\":" + finished + "}]");
      return Json.object(reply);
    }
  }

  /** A call of Chat's. */
  private static final class Asked {
    final int index;
    String id = "";
    private final Grown call = new Grown();
    private final Map<String, Grown> bodies = new LinkedHashMap<>(); // function or custom

    Asked(int index) {
      this.index = index;
    }

    void grow(Map<String, String> piece) {
      piece.remove("index");
      piece.values().removeIf(value -> value.equals("null") || value.equals("\"\"")); // also an id or a type that was told before
      for (String body : List.of("function", "custom")) {
        if (piece.containsKey(body)) {
          bodies.computeIfAbsent(body, none -> new Grown()).grow(Json.members(piece.remove(body)));
        }
      }
      piece.forEach(call::put);
    }

    /** Whether anything came of the call's arguments. */
    boolean begun() {
      return bodies.values().stream().anyMatch(body -> body.says("arguments") || body.says("input"));
    }

    String json() {
      bodies.forEach((name, body) -> call.put(name, body.json()));
      if (!call.has("type")) {
        call.put("type", "\"function\"");
      }
      return call.json();
    }
  }

  /** The whole is in the last event, and what there is in those before it. */
  private static final class Responses extends Assembly {
    private final Map<String, String> response = new LinkedHashMap<>();
    private final Map<Integer, Map<String, String>> items = new TreeMap<>();
    private final Map<Integer, Map<Integer, Grown>> texts = new TreeMap<>(); // by item and content
    private boolean whole;

    @Override
    void feed(Map<String, String> event) {
      int at = index(event, "output_index");
      switch (Json.string(event, "type")) {
        case "response.completed":
        case "response.incomplete":
          whole = true;
          response.clear();
          response.putAll(object(event, "response"));
          break;
        case "response.created":
          response.putAll(object(event, "response"));
          break;
        case "response.output_item.added":
          if (isMessage(object(event, "item"))) {
            items.put(at, object(event, "item"));
          }
          break;
        case "response.output_item.done":
          items.put(at, object(event, "item"));
          texts.remove(at);
          break;
        case "response.output_text.delta":
          texts.computeIfAbsent(at, none -> new TreeMap<>()).computeIfAbsent(index(event, "content_index"), none -> new Grown())
              .grow("text", event.getOrDefault("delta", "\"\""));
          break;
        default:
          break; // says nothing that another one does not
      }
    }

    private static boolean isMessage(Map<String, String> item) {
      return Json.string(item, "type").equals("message");
    }

    @Override
    boolean whole() {
      return whole;
    }

    @Override
    String reply() {
      if (whole) {
        return Json.object(response);
      }
      List<String> output = new ArrayList<>();
      items.forEach(
          (at, item) -> {
            Map<String, String> whole = new LinkedHashMap<>(item);
            if (isMessage(item) && texts.containsKey(at)) {
              List<String> content = new ArrayList<>();
              texts.get(at).values().forEach(text -> content.add("{\"type\":\"output_text\",\"text\":" + text.get("text") + ",\"annotations\":[]}"));
              whole.put("content", Json.array(content));
            }
            if (!isMessage(item) || !Json.elements(whole, "content").isEmpty()) {
              output.add(Json.object(whole));
            }
          });
      if (output.isEmpty()) {
        return null;
      }
      response.put("object", "\"response\"");
      response.put("output", Json.array(output));
      return Json.object(response);
    }
  }

  private static final class Anthropic extends Assembly {
    private final Map<String, String> message = new LinkedHashMap<>();
    private final Map<Integer, Block> blocks = new TreeMap<>();
    private boolean whole;

    @Override
    void feed(Map<String, String> event) {
      Block block = blocks.get(index(event, "index"));
      switch (Json.string(event, "type")) {
        case "message_start":
          message.putAll(object(event, "message"));
          break;
        case "content_block_start":
          blocks.put(index(event, "index"), new Block(object(event, "content_block")));
          break;
        case "content_block_delta":
          if (block != null) {
            block.grow(new LinkedHashMap<>(object(event, "delta")));
          }
          break;
        case "content_block_stop":
          if (block != null) {
            block.end();
          }
          break;
        case "message_delta":
          Map<String, String> usage = new LinkedHashMap<>(object(message, "usage"));
          usage.putAll(object(event, "usage"));
          message.putAll(object(event, "delta"));
          message.put("usage", Json.object(usage));
          break;
        case "message_stop":
          whole = true;
          break;
        default:
          break; // a ping, or an error
      }
    }

    @Override
    boolean whole() {
      return whole;
    }

    @Override
    String reply() {
      List<String> content = new ArrayList<>();
      blocks.values().stream().filter(Block::kept).forEach(block -> content.add(block.json()));
      if (message.isEmpty() || content.isEmpty() && !whole) {
        return null;
      }
      message.put("content", Json.array(content));
      return Json.object(message);
    }
  }

  /** A block of Anthropic's. It is open until it has ended, and for good if its input is no JSON by then. */
  private static final class Block {
    private final Grown content;
    private final StringBuilder input = new StringBuilder();
    private final List<String> citations;
    private boolean open = true;

    Block(Map<String, String> content) {
      this.content = new Grown(content);
      this.citations = new ArrayList<>(Json.elements(content, "citations"));
    }

    void grow(Map<String, String> delta) {
      String type = Json.string(delta, "type");
      delta.remove("type");
      if (type.equals("input_json_delta")) {
        input.append(Json.string(delta, "partial_json"));
      } else if (type.equals("citations_delta")) {
        citations.add(delta.getOrDefault("citation", "null"));
      } else {
        content.grow(delta);
      }
    }

    void end() {
      open = false;
      if (input.length() > 0) {
        try {
          content.put("input", Json.object(Json.members(input.toString())));
        } catch (IllegalArgumentException half) {
          open = true; // it broke off at the largest number of tokens
        }
      }
    }

    /** Whether a reply that broke off keeps it. */
    boolean kept() {
      return !open
          || content.get("type").equals("\"text\"") && content.says("text")
          || content.get("type").equals("\"thinking\"") && content.says("signature");
    }

    String json() {
      if (!citations.isEmpty()) {
        content.put("citations", Json.array(citations));
      }
      return content.json();
    }
  }

  /** One answer of several. Neighboring texts become one, up to a part with a signature: it stays with its part. */
  private static final class Gemini extends Assembly {
    private final Map<String, String> head = new LinkedHashMap<>();
    private final Map<String, String> candidate = new LinkedHashMap<>();
    private final List<Grown> parts = new ArrayList<>();

    @Override
    void feed(Map<String, String> event) {
      List<String> candidates = Json.elements(event, "candidates");
      event.remove("candidates");
      head.putAll(event);
      if (!candidates.isEmpty()) {
        Map<String, String> first = Json.members(candidates.get(0));
        Json.elements(object(first, "content"), "parts").forEach(part -> grow(Json.members(part)));
        candidate.putAll(first);
      }
    }

    private void grow(Map<String, String> part) {
      Grown last = parts.isEmpty() ? new Grown() : parts.get(parts.size() - 1);
      boolean goesOn = part.containsKey("text") && last.has("text") && !last.has("thoughtSignature")
          && last.get("thought").equals(part.getOrDefault("thought", ""));
      if (!goesOn) {
        parts.add(new Grown(part));
        return;
      }
      last.grow("text", part.remove("text"));
      part.forEach(last::put);
    }

    @Override
    boolean whole() {
      return !candidate.getOrDefault("finishReason", "null").equals("null");
    }

    @Override
    String reply() {
      if (parts.isEmpty() && !whole()) {
        return null;
      }
      List<String> all = new ArrayList<>();
      parts.forEach(part -> all.add(part.json()));
      candidate.put("content", "{\"role\":\"model\",\"parts\":" + Json.array(all) + "}");
      Map<String, String> reply = new LinkedHashMap<>(head);
      reply.put("candidates", "[" + Json.object(candidate) + "]");
      return Json.object(reply);
    }
  }
}
