package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.BuildContextRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a call of a model takes beside the conversation. */
public final class Request {
  final Map<String, String> with = new LinkedHashMap<>(); // JSON by member
  String model = "";
  String system = "";
  String tools = "";
  BuildContextRequest build = BuildContextRequest.getDefaultInstance();
  boolean recall = true;
  boolean cacheMarks = true;
  boolean anew;

  private Request() {}

  /** A request of a model. */
  public static Request of(String model) {
    Request request = new Request();
    request.model = model;
    return request;
  }

  /** The system prompt, which is never on record. */
  public Request system(String prompt) {
    system = prompt;
    return this;
  }

  /** The program's tools, a JSON array in the provider's form. Those by which the model gets text back are added. */
  public Request tools(String json) {
    tools = json;
    return this;
  }

  /** A further member of the provider's request, such as max_tokens. */
  public Request with(String member, Number value) {
    return withJson(member, Json.write(value));
  }

  /** The same for a text. */
  public Request with(String member, String value) {
    return withJson(member, Json.write(value));
  }

  /** The same for true or false. */
  public Request with(String member, boolean value) {
    return withJson(member, Json.write(value));
  }

  /** The same for a list of texts, numbers, booleans, nulls, lists and maps. */
  public Request with(String member, List<?> value) {
    return withJson(member, Json.write(value));
  }

  /** The same for an object, whose values are of the same kinds. */
  public Request with(String member, Map<String, ?> value) {
    return withJson(member, Json.write(value));
  }

  /** A further member of the provider's request, in JSON. */
  public Request withJson(String member, String json) {
    with.put(member, json);
    return this;
  }

  /** Further fields of the API's request, such as the budget. */
  public Request build(BuildContextRequest fields) {
    build = fields;
    return this;
  }

  /** Leaves out the tools by which the model gets text back. */
  public Request withoutRecall() {
    recall = false;
    return this;
  }

  /** Leaves out marks for the provider's prompt cache. */
  public Request withoutCacheMarks() {
    cacheMarks = false;
    return this;
  }

  /**
   * Lets a list with another first message begin another conversation ({@link Conversation#sync}); where it differs later, the record is taken
   * back. {@link Conversation#id} is then that conversation's, until a list comes that is another one's.
   */
  public Request anew() {
    anew = true;
    return this;
  }

  /** The sidecar's request, without what it puts on record. */
  BuildContextRequest.Builder build(String conversation, Format format) {
    BuildContextRequest.Builder made =
        BuildContextRequest.newBuilder().setMaxReplyBytes(Palimpsest.LARGEST_REPLY).mergeFrom(build)
            .setConversationId(conversation).setFormat(format.code).setModel(model).setComplete(true);
    if (!system.isEmpty() || !tools.isEmpty()) {
      made.getFixedInputBuilder().setSystemPrompt(system).setToolsJson(tools);
    }
    return made;
  }

  /** The body of the provider's call: the sidecar's part, the model where the body names it, and what the caller adds. */
  String body(Format format, String sidecars) {
    Map<String, String> members = new LinkedHashMap<>();
    if (!model.isEmpty() && format != Format.GEMINI) {
      members.put("model", Json.write(model));
    }
    members.putAll(Json.members(sidecars));
    members.putAll(with);
    return Json.object(members);
  }
}
