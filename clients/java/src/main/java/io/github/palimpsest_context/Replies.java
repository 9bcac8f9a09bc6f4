package io.github.palimpsest_context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The calls of a reply that is not on record yet, as the sidecar will read them. */
final class Replies {
  private Replies() {}

  /** The calls. Those of Gemini's have ids if they are {@link #identified}. */
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
    return calls;
  }

  /** A reply of Gemini's whose calls have ids: where it goes on record with its results, nobody else gives them any. */
  static String identified(String reply) {
    return changed(reply, "candidates", candidates -> each(candidates, one -> changed(one, "content", content ->
        changed(content, "parts", parts -> each(parts, part -> changed(part, "functionCall", Replies::withId))))));
  }

  private static String withId(String call) {
    Map<String, String> members = Json.members(call);
    members.putIfAbsent("id", Json.write("call_" + UUID.randomUUID()));
    return Json.object(members);
  }

  private static String each(String array, UnaryOperator<String> change) {
    return Json.array(Json.elements(array).stream().map(change).collect(Collectors.toList()));
  }

  private static String changed(String object, String member, UnaryOperator<String> change) {
    Map<String, String> members = Json.members(object);
    members.computeIfPresent(member, (name, value) -> value.equals("null") ? value : change.apply(value));
    return Json.object(members);
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
