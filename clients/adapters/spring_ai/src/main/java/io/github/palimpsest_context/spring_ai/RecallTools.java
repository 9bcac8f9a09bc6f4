package io.github.palimpsest_context.spring_ai;

import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.Palimpsest;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import reactor.core.publisher.Flux;
import tools.jackson.databind.JsonNode;

/** Brings the tools by which the model gets text back, behind a client's own, to the advisor that runs tools. */
final class RecallTools implements CallAdvisor, StreamAdvisor {
  private final PalimpsestAdvisor views;

  RecallTools(PalimpsestAdvisor views) {
    this.views = views;
  }

  @Override
  public int getOrder() {
    return ToolCallingAdvisor.DEFAULT_ORDER - 1;
  }

  @Override
  public String getName() {
    return "Palimpsest recall tools";
  }

  @Override
  public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
    return chain.nextCall(with(request));
  }

  @Override
  public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
    return chain.nextStream(with(request));
  }

  private ChatClientRequest with(ChatClientRequest request) {
    if (!(request.prompt().getOptions() instanceof ToolCallingChatOptions options)) {
      return request;
    }
    List<ToolCallback> all = new ArrayList<>(of(options));
    Conversation conversation = views.of(request);
    Messages.JSON.readTree(Palimpsest.tools(Format.OPENAI, false)).forEach(tool -> all.add(new Recall(tool.get("function"), conversation)));
    return request.mutate().prompt(request.prompt().mutate().chatOptions(options.mutate().toolCallbacks(all).build()).build()).build();
  }

  private static List<ToolCallback> of(ToolCallingChatOptions options) {
    return options.getToolCallbacks() == null ? List.of() : options.getToolCallbacks();
  }

  /** The tools of a request as Chat Completions has them, which are counted. */
  static String definitions(ChatOptions options) {
    List<String> all = new ArrayList<>();
    for (ToolCallback tool : options instanceof ToolCallingChatOptions calling ? of(calling) : List.<ToolCallback>of()) {
      ToolDefinition is = tool.getToolDefinition();
      JsonNode schema = Messages.JSON.readTree(is.inputSchema());
      JsonNode function = Messages.JSON.createObjectNode().put("name", is.name()).put("description", is.description()).set("parameters", schema);
      all.add(Messages.JSON.createObjectNode().put("type", "function").set("function", function).toString());
    }
    return all.isEmpty() ? "" : "[" + String.join(",", all) + "]";
  }

  /** A tool of one conversation. The framework tells tools no ids of calls, and none is needed: results go on record with the list. */
  private record Recall(ToolDefinition getToolDefinition, Conversation conversation) implements ToolCallback {
    Recall(JsonNode function, Conversation conversation) {
      this(
          ToolDefinition.builder().name(function.get("name").asString()).description(function.get("description").asString())
              .inputSchema(function.get("parameters").toString()).build(),
          conversation);
    }

    @Override
    public String call(String arguments) {
      synchronized (conversation) {
        return conversation.recall(getToolDefinition.name(), arguments, getToolDefinition.name());
      }
    }
  }
}
