package io.github.palimpsest_context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The calls of a reply that is not on record yet, as the sidecar will read them. */
final class Replies {
  private Replies() {}

  /** The calls; null where only the sidecar can say: Gemini gives calls no ids. */
  static List<Call> calls(Format format, String reply) {
    List<Call> calls = new ArrayList<>();
    Map<String, String> members = Json.members(reply);
    switch (format) {
      case OPENAI:
        chat(members, calls);
        break;
      case RESPONSES:
        responses(members, calls);
        break;
      case ANTHROPIC:
        anthropic(members, calls);
        break;
      default:
        gemini(members, calls);
        break;
    }
    return calls.stream().anyMatch(call -> call.id().isEmpty()) ? null : calls;
  }

  private static void add(List<Call> calls, String id, String name, String arguments) {
    calls.add(new Call(id, name, arguments, Call.recalls(name)));
  }

  private static void chat(Map<String, String> reply, List<Call> calls) {
    for (String choice : Json.elements(reply, "choices")) {
      for (String one : Json.elements(Json.members(Json.members(choice).get("message")), "tool_calls")) {
        Map<String, String> call = Json.members(one);
        Map<String, String> function = Json.members(call.getOrDefault("function", "{}"));
        add(calls, Json.string(call, "id"), Json.string(function, "name"), Json.string(function, "arguments"));
      }
    }
  }

  private static void responses(Map<String, String> reply, List<Call> calls) {
    for (String one : Json.elements(reply, "output")) {
      Map<String, String> item = Json.members(one);
      if (Json.string(item, "type").equals("function_call")) {
        add(calls, Json.string(item, "call_id"), Json.string(item, "name"), Json.string(item, "arguments"));
      }
    }
  }

  private static void anthropic(Map<String, String> reply, List<Call> calls) {
    for (String one : Json.elements(reply, "content")) {
      Map<String, String> block = Json.members(one);
      if (Json.string(block, "type").equals("tool_use")) {
        add(calls, Json.string(block, "id"), Json.string(block, "name"), block.getOrDefault("input", "{}"));
      }
    }
  }

  private static void gemini(Map<String, String> reply, List<Call> calls) {
    for (String candidate : Json.elements(reply, "candidates")) {
      for (String part : Json.elements(Json.members(Json.members(candidate).getOrDefault("content", "{}")), "parts")) {
        String asked = Json.members(part).get("functionCall");
        if (asked != null) {
          Map<String, String> call = Json.members(asked);
          add(calls, Json.string(call, "id"), Json.string(call, "name"), call.getOrDefault("args", "{}"));
        }
      }
    }
  }
}
