package io.github.palimpsest_context.spring_ai;

import io.github.palimpsest_context.Piece;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A prompt's messages as Chat Completions has them, where each result is a message of its own, and back. */
final class Messages {
  static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Pattern DATA = Pattern.compile("data:([^;,]*);base64,(.*)", Pattern.DOTALL);

  final List<String> elements = new ArrayList<>();
  private final List<Integer> owners = new ArrayList<>(); // by element, the index of the message that it is made of
  private final List<Message> own;

  Messages(List<Message> own) {
    this.own = own;
    for (int i = 0; i < own.size(); i++) {
      for (ObjectNode element : written(own.get(i))) {
        elements.add(element.toString());
        owners.add(i);
      }
    }
  }

  private static List<ObjectNode> written(Message message) {
    if (message instanceof ToolResponseMessage results) {
      return results.getResponses().stream()
          .map(one -> element("tool").put("tool_call_id", one.id()).put("content", one.responseData())).toList();
    } else if (message instanceof AssistantMessage said) {
      ObjectNode out = element("assistant").put("content", said.hasToolCalls() || said.getText() != null ? said.getText() : "");
      for (ToolCall call : said.getToolCalls()) {
        String arguments = call.arguments() == null || call.arguments().isBlank() ? "{}" : call.arguments();
        ObjectNode function = JSON.createObjectNode().put("name", call.name()).put("arguments", arguments);
        out.withArray("tool_calls").addObject().put("id", call.id()).put("type", "function").set("function", function);
      }
      return List.of(out);
    }
    String text = message.getText() == null ? "" : message.getText();
    ObjectNode out = element(message instanceof SystemMessage ? "system" : "user").put("content", text);
    if (message instanceof UserMessage user && !user.getMedia().isEmpty()) {
      ArrayNode parts = out.putArray("content");
      if (!text.isEmpty()) {
        parts.addObject().put("type", "text").put("text", text);
      }
      user.getMedia().forEach(media -> part(parts.addObject(), media));
    }
    return List.of(out);
  }

  private static ObjectNode element(String role) {
    return JSON.createObjectNode().put("role", role);
  }

  private static void part(ObjectNode part, Media media) {
    String data = media.getData() instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : media.getData().toString();
    String address = media.getData() instanceof byte[] ? "data:" + media.getMimeType() + ";base64," + data : data;
    if (media.getMimeType().getType().equals("image")) {
      part.put("type", "image_url").putObject("image_url").put("url", address);
    } else {
      String kind = address.startsWith("data:") ? "file_data" : "file_id"; // itself, or where it is
      part.put("type", "file").putObject("file").put(kind, address);
    }
  }

  /** What the model answered, whole; null if nothing. Providers count cached tokens as input or not, so that usage with such is left out. */
  static String reply(ChatResponse response) {
    if (response == null || response.getResults().isEmpty()) {
      return null;
    }
    AssistantMessage said = response.getResults().get(response.getResults().size() - 1).getOutput(); // thoughts may come before it
    ObjectNode out = JSON.createObjectNode().put("object", "chat.completion").put("model", response.getMetadata().getModel());
    out.putArray("choices").addObject().put("index", 0).set("message", written(said).get(0));
    Usage usage = response.getMetadata().getUsage();
    if (usage.getPromptTokens() > 0 && none(usage.getCacheReadInputTokens()) && none(usage.getCacheWriteInputTokens())) {
      out.putObject("usage").put("prompt_tokens", usage.getPromptTokens()).put("completion_tokens", usage.getCompletionTokens());
    }
    return out.toString();
  }

  private static boolean none(Long count) {
    return count == null || count == 0;
  }

  /** A view: a message of which all is whole is the prompt's own; all else is made of its messages as far as that goes. */
  List<Message> shown(List<Piece> pieces) {
    Set<Integer> torn = new HashSet<>();
    pieces.stream().filter(piece -> !piece.whole()).forEach(piece -> piece.indexes().forEach(i -> torn.add(owners.get(i))));
    List<Message> shown = new ArrayList<>();
    Set<Integer> placed = new HashSet<>();
    for (Piece piece : pieces) {
      for (int i : piece.whole() ? piece.indexes().stream().sorted().toList() : List.<Integer>of()) {
        int owner = owners.get(i);
        if (torn.contains(owner)) {
          made(JSON.readTree(elements.get(i)), own.get(owner), new ArrayDeque<>(), shown);
        } else if (placed.add(owner)) {
          shown.add(own.get(owner));
        }
      }
      List<JsonNode> made = piece.shown().stream().map(JSON::readTree).toList();
      List<Message> its = piece.indexes().stream().map(owners::get).map(own::get).toList();
      Deque<Media> media = new ArrayDeque<>();
      its.forEach(one -> media.addAll(one instanceof UserMessage user ? user.getMedia() : List.of()));
      if (media.size() != made.stream().flatMap(Messages::parts).filter(part -> !part.has("text")).count()) {
        media.clear();
      }
      for (int i = 0; i < made.size(); i++) {
        made(made.get(i), its.size() == made.size() ? its.get(i) : null, media, shown);
      }
    }
    return shown;
  }

  private static Stream<JsonNode> parts(JsonNode message) {
    JsonNode content = message.path("content");
    return content.isArray() ? content.valueStream() : Stream.of(JSON.createObjectNode().put("text", content.asString("")));
  }

  private void made(JsonNode message, Message its, Deque<Media> media, List<Message> shown) {
    String text = parts(message).map(part -> part.path("text").asString("")).collect(Collectors.joining());
    List<Media> others = parts(message).filter(part -> !part.has("text")).map(part -> media.isEmpty() ? media(part) : media.poll()).toList();
    switch (message.path("role").asString()) {
      case "system", "developer" -> shown.add(new SystemMessage(text));
      case "tool" -> answered(message.path("tool_call_id").asString(), text, its, shown);
      case "assistant" -> {
        AssistantMessage.Builder<?> said = its instanceof AssistantMessage one ? one.mutate() : AssistantMessage.builder();
        shown.add(said.content(text.isEmpty() ? null : text).toolCalls(calls(message)).build());
      }
      default -> shown.add((its instanceof UserMessage user ? user.mutate() : UserMessage.builder()).text(text).media(others).build());
    }
  }

  /** Adds a result to those before it: all that answer one message are one message. */
  private void answered(String callId, String text, Message its, List<Message> shown) {
    Message last = shown.isEmpty() ? null : shown.get(shown.size() - 1);
    List<ToolResponse> all = new ArrayList<>();
    if (last instanceof ToolResponseMessage before && own.stream().noneMatch(one -> one == before)) {
      all.addAll(before.getResponses());
      shown.remove(shown.size() - 1);
    }
    all.add(new ToolResponse(callId, name(callId), text));
    shown.add(ToolResponseMessage.builder().responses(all).metadata(its == null ? Map.of() : its.getMetadata()).build());
  }

  private static List<ToolCall> calls(JsonNode message) {
    List<ToolCall> calls = new ArrayList<>();
    for (JsonNode call : message.path("tool_calls")) {
      JsonNode function = call.path("function");
      calls.add(new ToolCall(call.path("id").asString(), "function", function.path("name").asString(), function.path("arguments").asString()));
    }
    return calls;
  }

  private String name(String id) {
    return own.stream().flatMap(one -> one instanceof AssistantMessage said ? said.getToolCalls().stream() : Stream.of())
        .filter(call -> id.equals(call.id())).map(ToolCall::name).findFirst().orElse("");
  }

  /** An image or a file as the record has it. */
  private static Media media(JsonNode part) {
    String address =
        Stream.of("/image_url/url", "/file/file_data", "/file/file_id").map(at -> part.at(at).asString("")).collect(Collectors.joining());
    Matcher data = DATA.matcher(address);
    if (data.matches()) {
      return Media.builder().mimeType(MimeType.valueOf(data.group(1))).data(Base64.getDecoder().decode(data.group(2))).build();
    }
    return Media.builder().mimeType(MimeType.valueOf(part.has("image_url") ? "image/*" : "application/pdf")).data(address).build();
  }
}
