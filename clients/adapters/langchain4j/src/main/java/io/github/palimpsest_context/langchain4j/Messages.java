package io.github.palimpsest_context.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.TokenUsage;
import io.github.palimpsest_context.Piece;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** LangChain4j's messages as Chat Completions has them, and back. */
final class Messages {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern DATA = Pattern.compile("data:([^;,]*);base64,(.*)", Pattern.DOTALL);

  private Messages() {}

  static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException broken) {
      throw new IllegalStateException("the sidecar sent what is no JSON", broken);
    }
  }

  static List<String> written(List<ChatMessage> messages) {
    Deque<String> open = new ArrayDeque<>();
    return IntStream.range(0, messages.size()).mapToObj(i -> written(messages.get(i), "call_" + i, open).toString()).toList();
  }

  /** A message. Some models give calls no ids: these get one, and so do their results, which stand behind them in order. */
  private static ObjectNode written(ChatMessage message, String ids, Deque<String> open) {
    ObjectNode out = JSON.createObjectNode();
    if (message instanceof SystemMessage system) {
      return out.put("role", "system").put("content", system.text());
    } else if (message instanceof UserMessage user) {
      return contents(out.put("role", "user"), user.contents());
    } else if (message instanceof ToolExecutionResultMessage result) {
      return contents(out.put("role", "tool").put("tool_call_id", result.id() == null ? open.poll() : result.id()), result.contents());
    } else if (message instanceof AiMessage ai) {
      out.put("role", "assistant").put("content", ai.text() == null && !ai.hasToolExecutionRequests() ? "" : ai.text());
      for (ToolExecutionRequest call : ai.toolExecutionRequests()) {
        String id = call.id() == null ? ids + "_" + out.withArray("tool_calls").size() : call.id();
        if (call.id() == null) {
          open.add(id);
        }
        String arguments = call.arguments() == null || call.arguments().isBlank() ? "{}" : call.arguments();
        ObjectNode made = out.withArray("tool_calls").addObject().put("id", id).put("type", "function");
        made.putObject("function").put("name", call.name()).put("arguments", arguments);
      }
      return out;
    }
    return out.put("role", "user").put("content", ChatMessageSerializer.messageToJson(message)); // one that only its model understands
  }

  private static ObjectNode contents(ObjectNode out, List<Content> contents) {
    if (contents.size() == 1 && contents.get(0) instanceof TextContent text) {
      return out.put("content", text.text());
    }
    ArrayNode parts = out.putArray("content");
    contents.forEach(content -> part(parts.addObject(), content));
    return out;
  }

  private static void part(ObjectNode part, Content content) {
    if (content instanceof TextContent text) {
      part.put("type", "text").put("text", text.text());
    } else if (content instanceof ImageContent image) {
      String url = address(image.image().url(), image.image().mimeType(), image.image().base64Data());
      part.put("type", "image_url").putObject("image_url").put("url", url);
    } else {
      String address = file(content); // where it is, or itself
      part.put("type", "file").putObject("file").put(DATA.matcher(address).matches() ? "file_data" : "file_id", address);
    }
  }

  private static String file(Content content) {
    if (content instanceof PdfFileContent pdf) {
      return address(pdf.pdfFile().url(), pdf.pdfFile().mimeType(), pdf.pdfFile().base64Data());
    } else if (content instanceof AudioContent audio) {
      return address(audio.audio().url(), audio.audio().mimeType(), audio.audio().base64Data());
    } else if (content instanceof VideoContent video) {
      return address(video.video().url(), video.video().mimeType(), video.video().base64Data());
    }
    return content.toString();
  }

  private static String address(URI url, String type, String data) {
    return url != null ? url.toString() : "data:" + type + ";base64," + data;
  }

  /** What the model answered, whole. Usage of a kind of its own may count otherwise, such as Anthropic's, without what was cached. */
  static String reply(ChatResponse response) {
    ObjectNode out = JSON.createObjectNode().put("object", "chat.completion").put("model", response.modelName());
    ObjectNode said = written(response.aiMessage(), "call_" + response.id(), new ArrayDeque<>());
    out.putArray("choices").addObject().put("index", 0).set("message", said);
    TokenUsage usage = response.tokenUsage();
    boolean counted = usage != null && usage.inputTokenCount() != null && usage.outputTokenCount() != null;
    if (counted && !usage.getClass().getSimpleName().startsWith("Anthropic")) {
      out.putObject("usage").put("prompt_tokens", usage.inputTokenCount()).put("completion_tokens", usage.outputTokenCount());
    }
    return out.toString();
  }

  /** What is shown of a piece: the memory's own messages where it is whole, else messages that are made of them as far as that goes. */
  static List<ChatMessage> shown(Piece piece, List<ChatMessage> own) {
    List<ChatMessage> its = piece.indexes().stream().map(own::get).toList();
    if (piece.whole()) {
      return its;
    }
    List<JsonNode> made = piece.shown().stream().map(Messages::read).toList();
    Deque<Content> media = new ArrayDeque<>();
    its.forEach(message -> contents(message).stream().filter(one -> !(one instanceof TextContent)).forEach(media::add));
    if (media.size() != made.stream().flatMap(message -> parts(message)).filter(part -> !part.has("text")).count()) {
      media.clear();
    }
    boolean each = its.size() == made.size();
    return IntStream.range(0, made.size()).mapToObj(i -> made(made.get(i), each ? its.get(i) : null, own, media)).toList();
  }

  private static List<Content> contents(ChatMessage message) {
    if (message instanceof UserMessage user) {
      return user.contents();
    }
    return message instanceof ToolExecutionResultMessage result ? result.contents() : List.of();
  }

  private static Stream<JsonNode> parts(JsonNode message) {
    JsonNode content = message.path("content");
    JsonNode text = JSON.createObjectNode().put("text", content.asText(""));
    return content.isArray() ? StreamSupport.stream(content.spliterator(), false) : Stream.of(text);
  }

  private static ChatMessage made(JsonNode shown, ChatMessage its, List<ChatMessage> own, Deque<Content> media) {
    String text = parts(shown).map(part -> part.path("text").asText()).collect(Collectors.joining());
    List<Content> contents = new ArrayList<>();
    parts(shown).forEach(part -> contents.add(part.has("text") ? TextContent.from(part.get("text").asText()) : media.isEmpty() ? media(part) : media.poll()));
    switch (shown.path("role").asText()) {
      case "system":
      case "developer":
        return SystemMessage.from(text);
      case "tool":
        String id = shown.path("tool_call_id").asText();
        return its instanceof ToolExecutionResultMessage result
            ? result.toBuilder().contents(contents).build()
            : ToolExecutionResultMessage.builder().id(id).toolName(name(id, own)).contents(contents).build();
      case "assistant":
        AiMessage.Builder said = its instanceof AiMessage ai ? ai.toBuilder() : AiMessage.builder();
        return said.text(text.isEmpty() ? null : text).toolExecutionRequests(calls(shown, its)).build();
      default:
        return (its instanceof UserMessage user ? user.toBuilder() : UserMessage.builder()).contents(contents).build();
    }
  }

  /** An image or a file as the record has it. */
  private static Content media(JsonNode part) {
    String address = Stream.of("/image_url/url", "/file/file_data", "/file/file_id").map(at -> part.at(at).asText("")).collect(Collectors.joining());
    Matcher data = DATA.matcher(address);
    if (part.has("image_url")) {
      return data.matches() ? ImageContent.from(data.group(2), data.group(1)) : ImageContent.from(address);
    }
    return data.matches() ? PdfFileContent.from(data.group(2), data.group(1)) : PdfFileContent.from(address);
  }

  /** The calls of a message. Those that had no id have none. */
  private static List<ToolExecutionRequest> calls(JsonNode shown, ChatMessage its) {
    boolean unnamed = its instanceof AiMessage ai && ai.toolExecutionRequests().stream().anyMatch(call -> call.id() == null);
    List<ToolExecutionRequest> calls = new ArrayList<>();
    for (JsonNode call : shown.path("tool_calls")) {
      JsonNode function = call.path("function");
      calls.add(
          ToolExecutionRequest.builder().id(unnamed ? null : call.path("id").asText()).name(function.path("name").asText())
              .arguments(function.path("arguments").asText()).build());
    }
    return calls;
  }

  private static String name(String id, List<ChatMessage> own) {
    return own.stream().filter(AiMessage.class::isInstance).flatMap(message -> ((AiMessage) message).toolExecutionRequests().stream())
        .filter(call -> id.equals(call.id())).map(ToolExecutionRequest::name).findFirst().orElse(null);
  }
}
