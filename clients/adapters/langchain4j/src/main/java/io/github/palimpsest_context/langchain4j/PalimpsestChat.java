package io.github.palimpsest_context.langchain4j;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.observability.api.event.AiServiceResponseReceivedEvent;
import dev.langchain4j.observability.api.listener.AiServiceListener;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.tool.ToolExecutor;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.Piece;
import io.github.palimpsest_context.Request;
import io.github.palimpsest_context.v1.OnCut;
import io.github.palimpsest_context.v1.OnDivergence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Palimpsest for LangChain4j: a memory's messages go in, what the model should see comes out, and the memory stays whole. */
public final class PalimpsestChat implements AiServiceListener<AiServiceResponseReceivedEvent> {
  private static final int OPEN = 1024; // conversations that are kept at hand
  private final Function<String, Conversation> conversations;
  private final String model;
  private OnDivergence differs = OnDivergence.ON_DIVERGENCE_NEW;
  private OnCut cut = OnCut.ON_CUT_HIDE;
  private final Map<String, Conversation> open =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Conversation> eldest) {
          return size() > OPEN;
        }
      };

  /** Opens conversations by memory ids: {@code palimpsest::conversation}. The model is that of requests that name none. */
  public PalimpsestChat(Function<String, Conversation> conversations, String model) {
    this.conversations = conversations;
    this.model = model;
  }

  /** Chooses what happens where a memory differs from the record, and to what it no longer holds: NEW and HIDE by default. */
  public PalimpsestChat reading(OnDivergence differs, OnCut cut) {
    this.differs = differs;
    this.cut = cut;
    return this;
  }

  /** Adds what it takes to an AI service: its views, the recall tools behind the service's own, and the replies as they come. */
  public <T> AiServices<T> join(AiServices<T> services) {
    return services.tools(recallTools()).chatRequestTransformer(this::view).registerListener(this);
  }

  /** A request with what the model should see of its messages. */
  public ChatRequest view(ChatRequest request, Object memoryId) {
    List<ChatMessage> own = request.messages();
    String tools =
        request.toolSpecifications().stream().map(tool -> "{\"type\":\"function\",\"function\":" + tool.toJson() + "}").collect(Collectors.joining(","));
    Request wanted = Request.of(request.modelName() == null ? model : request.modelName()).tools(tools.isEmpty() ? "" : "[" + tools + "]");
    List<ChatMessage> shown = new ArrayList<>();
    Conversation conversation = of(memoryId);
    synchronized (conversation) {
      for (Piece piece : conversation.view(Format.OPENAI, Messages.written(own), wanted, differs, cut)) {
        shown.addAll(Messages.shown(piece, own));
      }
    }
    return request.toBuilder().messages(shown).build();
  }

  /** The tools by which the model gets text back. */
  public Map<ToolSpecification, ToolExecutor> recallTools() {
    ToolExecutor answered =
        (call, memoryId) -> {
          Conversation conversation = of(memoryId);
          synchronized (conversation) { // tools may run side by side
            return conversation.recall(call.name(), call.arguments(), call.id() == null ? call.name() : call.id());
          }
        };
    Map<ToolSpecification, ToolExecutor> tools = new LinkedHashMap<>();
    Messages.read(Palimpsest.tools(Format.OPENAI, false))
        .forEach(tool -> tools.put(ToolSpecification.fromJson(tool.get("function").toString()), answered));
    return tools;
  }

  @Override
  public Class<AiServiceResponseReceivedEvent> getEventClass() {
    return AiServiceResponseReceivedEvent.class;
  }

  /** Puts a reply on record. One that cannot be put there comes with the next list. */
  @Override
  public void onEvent(AiServiceResponseReceivedEvent event) {
    Conversation conversation = of(event.invocationContext().chatMemoryId());
    synchronized (conversation) {
      conversation.add(Messages.reply(event.response()));
    }
  }

  private Conversation of(Object memoryId) {
    synchronized (open) {
      return open.computeIfAbsent(String.valueOf(memoryId), conversations);
    }
  }
}
