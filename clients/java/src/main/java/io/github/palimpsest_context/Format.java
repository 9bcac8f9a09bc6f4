package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.ContextFormat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A provider's API. */
public enum Format {
  /** OpenAI's Chat Completions. */
  OPENAI(ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT, "openai_chat", "messages"),
  /** OpenAI's Responses. */
  RESPONSES(ContextFormat.CONTEXT_FORMAT_OPENAI_RESPONSES, "openai_responses", "input"),
  /** Anthropic's Messages. */
  ANTHROPIC(ContextFormat.CONTEXT_FORMAT_ANTHROPIC, "anthropic", "messages"),
  /** Gemini's generateContent. */
  GEMINI(ContextFormat.CONTEXT_FORMAT_GEMINI, "gemini", "contents");

  final ContextFormat code;
  final String tools; // the file of tools in this form
  private final String list; // the member of a request that holds the messages

  Format(ContextFormat code, String tools, String list) {
    this.code = code;
    this.tools = tools;
    this.list = list;
  }

  /** The body of a call that shows a whole list as it is. */
  String plain(List<String> elements, Request request) {
    Map<String, String> body = new LinkedHashMap<>();
    List<String> all = new ArrayList<>(elements);
    String system = Json.write(request.system);
    if (!request.system.isEmpty()) {
      switch (this) {
        case OPENAI:
          all.add(0, "{\"role\":\"system\",\"content\":" + system + "}");
          break;
        case RESPONSES:
          body.put("instructions", system);
          break;
        case ANTHROPIC:
          body.put("system", system);
          break;
        default:
          body.put("systemInstruction", "{\"parts\":[{\"text\":" + system + "}]}");
          break;
      }
    }
    body.put(list, Json.array(all));
    if (!request.tools.isEmpty()) {
      body.put("tools", request.tools);
    }
    return Json.object(body);
  }

  /** The body of a call with more elements behind what it showed. */
  String behind(String body, List<String> elements) {
    Map<String, String> members = Json.members(body);
    List<String> all = Json.elements(members, list);
    all.addAll(elements);
    members.put(list, Json.array(all));
    return Json.object(members);
  }
}
