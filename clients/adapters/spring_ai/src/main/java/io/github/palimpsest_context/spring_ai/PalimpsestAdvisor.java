package io.github.palimpsest_context.spring_ai;

import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.PalimpsestException;
import io.github.palimpsest_context.Piece;
import io.github.palimpsest_context.Request;
import io.github.palimpsest_context.v1.OnCut;
import io.github.palimpsest_context.v1.OnDivergence;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.ai.chat.client.ChatClientMessageAggregator;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Palimpsest for Spring AI: a prompt's messages go in, what the model should see comes out, and the memory stays whole. */
public final class PalimpsestAdvisor implements CallAdvisor, StreamAdvisor {
  private static final int OPEN = 1024; // conversations that are kept at hand

  private final Function<String, Conversation> conversations;
  private final OnDivergence differs;
  private final OnCut cut;
  private final Map<String, Conversation> open =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Conversation> eldest) {
          return size() > OPEN;
        }
      };

  private PalimpsestAdvisor(Function<String, Conversation> conversations, OnDivergence differs, OnCut cut) {
    this.conversations = conversations;
    this.differs = differs;
    this.cut = cut;
  }

  /** The advisors of a chat client: one shows the model its context, one brings the recall tools. Opens conversations by the memory's ids. */
  public static List<Advisor> all(Function<String, Conversation> conversations) {
    return all(conversations, OnDivergence.ON_DIVERGENCE_NEW, OnCut.ON_CUT_HIDE);
  }

  /** The same with other choices: what happens where a prompt differs from the record, and to what it no longer holds. */
  public static List<Advisor> all(Function<String, Conversation> conversations, OnDivergence differs, OnCut cut) {
    PalimpsestAdvisor views = new PalimpsestAdvisor(conversations, differs, cut);
    return List.of(new RecallTools(views), views);
  }

  /** Directly before the model, within all that adds messages and runs tools. */
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE - 1;
  }

  @Override
  public String getName() {
    return "Palimpsest";
  }

  @Override
  public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
    ChatClientResponse response = chain.nextCall(view(request));
    add(request, response);
    return response;
  }

  @Override
  public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
    Mono<ChatClientRequest> view = Mono.fromCallable(() -> view(request)).subscribeOn(Schedulers.boundedElastic());
    Flux<ChatClientResponse> responses = view.flatMapMany(chain::nextStream);
    return new ChatClientMessageAggregator().aggregateChatClientResponse(responses, response -> add(request, response));
  }

  private ChatClientRequest view(ChatClientRequest request) {
    Prompt prompt = request.prompt();
    ChatOptions options = prompt.getOptions();
    Messages messages = new Messages(prompt.getInstructions());
    Request wanted = Request.of(options == null ? "" : Objects.toString(options.getModel(), "")).tools(RecallTools.definitions(options));
    Conversation conversation = of(request);
    synchronized (conversation) {
      List<Piece> view = conversation.view(Format.OPENAI, messages.elements, wanted, differs, cut);
      return request.mutate().prompt(prompt.mutate().messages(messages.shown(view)).build()).build();
    }
  }

  private void add(ChatClientRequest request, ChatClientResponse response) {
    String reply = Messages.reply(response.chatResponse());
    Conversation conversation = of(request);
    synchronized (conversation) {
      try {
        if (reply != null) {
          conversation.add(reply);
        }
      } catch (PalimpsestException failed) {
        return; // it comes with the next list
      }
    }
  }

  /** The conversation of a request. */
  Conversation of(ChatClientRequest request) {
    if (!(request.context().get(ChatMemory.CONVERSATION_ID) instanceof String id)) {
      throw new IllegalArgumentException("name the conversation: .advisors(a -> a.param(ChatMemory.CONVERSATION_ID, id))");
    }
    synchronized (open) {
      return open.computeIfAbsent(id, conversations);
    }
  }
}
