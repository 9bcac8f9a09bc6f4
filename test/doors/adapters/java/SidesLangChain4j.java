import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.palimpsest_context.Options;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.langchain4j.PalimpsestChat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** LangChain4j with and without the adapter: what each provider gets. */
final class SidesLangChain4j {
  private static final int[] IMAGES = {10_000, 100_000, 400_000, 4_000_000};

  interface Ops {
    @SystemMessage("Be terse.")
    String chat(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);

    @SystemMessage("Be terse.")
    String chat(@MemoryId String id, @dev.langchain4j.service.UserMessage String text, @dev.langchain4j.service.UserMessage List<Content> contents);

    @SystemMessage("Be terse.")
    Weather weather(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);

    @SystemMessage("Be terse.")
    TokenStream stream(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);
  }

  record Weather(String city, boolean rain) {}

  static final class Tools {
    @Tool("Tells the weather.")
    String weather(String city) {
      return "Rain in " + city + ". ".repeat(10);
    }

    @Tool("Fails.")
    String fails(int x) {
      throw new IllegalStateException("the disk is full");
    }

    @Tool("Reads a log.")
    String log(String service) {
      StringBuilder log = new StringBuilder();
      for (int i = 0; i < 1000; i++) {
        log.append("08:00:").append(i % 60).append(" INFO ").append(service).append(": invoice ").append(i).append(" was sent\n");
      }
      return log.toString();
    }
  }

  static final class Camera {
    @Tool("Takes a picture of the screen.")
    Image shot(int size) {
      return Image.builder().base64Data(bytes(size, 0)).mimeType("image/png").build();
    }
  }

  /** An agent of a run, and the memories that it shares with those after a restart. */
  static final class Agent {
    final Side side;
    final InMemoryChatMemoryStore store;
    final Ops ops;

    Agent(Side side, Object... more) {
      this(side, new InMemoryChatMemoryStore(), more);
    }

    Agent(Side side, InMemoryChatMemoryStore store, Object... more) {
      this.side = side;
      this.store = store;
      AiServices<Ops> services =
          AiServices.builder(Ops.class).chatModel(model(side)).streamingChatModel(streaming(side)).chatMemoryProvider(this::memory).tools(new Tools())
              .maxToolCallingRoundTrips(300);
      if (more.length > 0) {
        services.tools(more);
      }
      this.ops = (side.plain() ? services : new PalimpsestChat(side::conversation, side.model).join(services)).build();
    }

    ChatMemory memory(Object id) {
      return MessageWindowChatMemory.builder().id(id).maxMessages(Integer.MAX_VALUE).chatMemoryStore(store).build();
    }

    void edit(String id, List<ChatMessage> messages) {
      store.updateMessages(id, new ArrayList<>(messages));
    }

    List<ChatMessage> messages() {
      return store.getMessages(side.name);
    }

    void asked(String... said) {
      Arrays.stream(said).forEach(words -> ops.chat(side.name, words));
    }

    Agent restarted() {
      side.restart();
      return new Agent(side, store);
    }
  }

  private SidesLangChain4j() {}

  static ChatModel model(Side side) {
    String url = side.url() + "/v1";
    return side.api.equals("anthropic")
        ? AnthropicChatModel.builder().baseUrl(url).apiKey("none").modelName(side.model).maxTokens(2000).maxRetries(0)
            .thinkingType("enabled").thinkingBudgetTokens(1024).returnThinking(true).sendThinking(true).build()
        : OpenAiChatModel.builder().baseUrl(url).apiKey("none").modelName(side.model).maxRetries(0).returnThinking(true)
            .strictJsonSchema(true).supportedCapabilities(Capability.RESPONSE_FORMAT_JSON_SCHEMA).build();
  }

  static StreamingChatModel streaming(Side side) {
    String url = side.url() + "/v1";
    return side.api.equals("anthropic")
        ? AnthropicStreamingChatModel.builder().baseUrl(url).apiKey("none").modelName(side.model).maxTokens(2000)
            .thinkingType("enabled").thinkingBudgetTokens(1024).returnThinking(true).sendThinking(true).build()
        : OpenAiStreamingChatModel.builder().baseUrl(url).apiKey("none").modelName(side.model).build();
  }

  static String bytes(int size, int seed) {
    byte[] png = Base64.getDecoder().decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
    byte[] out = Arrays.copyOf(png, size);
    for (int i = png.length; i < size; i++) {
      out[i] = (byte) ((i * 7919 + seed) % 251);
    }
    return Base64.getEncoder().encodeToString(out);
  }

  static String pdf(int seed) {
    return Base64.getEncoder().encodeToString(("%PDF-1.4\n% document " + seed + "\n%%EOF").getBytes());
  }

  static void answers(Side side, int count) {
    String[] all = new String[count];
    Arrays.setAll(all, n -> Side.text("answer " + n));
    side.script(all);
  }

  static void finished(TokenStream stream) throws Exception {
    CompletableFuture<Object> done = new CompletableFuture<>();
    stream.onPartialResponse(piece -> {}).onCompleteResponse(done::complete).onError(done::completeExceptionally).start();
    done.get(30, TimeUnit.SECONDS);
  }

  /** A model that gives calls no ids sees none, also where a result is cited. */
  static void withoutIds() {
    List<List<ChatMessage>> seen = new ArrayList<>();
    ChatModel model = new ChatModel() {
      @Override
      public ChatResponse doChat(ChatRequest request) {
        seen.add(request.messages());
        ToolExecutionRequest log = call("log", "{\"service\":\"billing\"}");
        AiMessage calls = AiMessage.from(call("weather", "{\"city\":\"A\"}"), log, call("weather", "{\"city\":\"B\"}"));
        return ChatResponse.builder().aiMessage(seen.size() == 1 ? calls : AiMessage.from("so")).build();
      }
    };
    try (Palimpsest p = Palimpsest.local(new Options().arguments("--default-policy", "balanced"))) {
      AiServices<Ops> services =
          AiServices.builder(Ops.class).chatModel(model).chatMemoryProvider(id -> MessageWindowChatMemory.withMaxMessages(100)).tools(new Tools());
      Ops ops = new PalimpsestChat(p::conversation, "gpt-6-sol").join(services).build();
      ops.chat("c1", "why?");
      ops.chat("c1", "sure?");
    }
    List<ChatMessage> shown = seen.get(2);
    List<ToolExecutionResultMessage> results =
        shown.stream().filter(ToolExecutionResultMessage.class::isInstance).map(ToolExecutionResultMessage.class::cast).toList();
    List<ToolExecutionRequest> calls = ((AiMessage) shown.get(2)).toolExecutionRequests();
    boolean named = results.stream().anyMatch(result -> result.id() != null) || calls.stream().anyMatch(call -> call.id() != null);
    List<String> begin = results.stream().map(result -> result.toolName() + " " + result.text().substring(0, 9)).toList();
    boolean cited = results.get(1).text().length() < new Tools().log("billing").length();
    if (named || shown.size() != 8 || !cited || !begin.get(0).equals("weather Rain in A") || !begin.get(2).equals("weather Rain in B")) {
      throw new AssertionError("without ids the model sees " + shown);
    }
    System.out.println("ok      calls without ids");
  }

  static ToolExecutionRequest call(String name, String arguments) {
    return ToolExecutionRequest.builder().name(name).arguments(arguments).build();
  }

  public static void main(String[] names) throws Exception {
    withoutIds();
    Rows rows = new Rows("openai", "anthropic");
    rows.run("text", side -> {
      answers(side, 2);
      new Agent(side).asked("hi", "and?");
    });
    rows.run("parallel_calls", side -> {
      side.script(Side.calls("weather", "{\"city\":\"A\"}", "weather", "{\"city\":\"B\"}"), Side.text("rain"));
      new Agent(side).asked("weather?", "sure?");
    });
    rows.run("tool_error", side -> {
      side.script(Side.calls("fails", "{\"x\":1}", "weather", "{\"city\":\"A\"}"), Side.text("it fails"));
      new Agent(side).asked("try", "again?");
    });
    rows.run("streaming", side -> {
      side.script(Side.calls("weather", "{\"city\":\"A\"}"), Side.text("It rains in A."));
      Agent agent = new Agent(side);
      finished(agent.ops.stream(side.name, "weather?"));
      finished(agent.ops.stream(side.name, "sure?"));
      agent.asked("really?");
    });
    rows.run("image_in", side -> {
      answers(side, 2);
      Agent agent = new Agent(side);
      Content image = ImageContent.from(bytes(20_000, 0), "image/png");
      agent.ops.chat(side.name, "what is it?", List.of(image, ImageContent.from("https://example.org/a.png")));
      agent.asked("sure?");
    });
    rows.absent("image_out_of_a_tool", "LangChain4j refuses to send what is no text in results to Chat Completions", "openai");
    rows.run("image_out_of_a_tool", side -> {
      Agent agent = new Agent(side, new Camera());
      for (int size : IMAGES) {
        side.script(Side.calls("shot", "{\"size\":" + size + "}"), Side.text("seen " + size));
        agent.asked("look at " + size);
      }
    }, "anthropic");
    rows.run("pdf_twice_with_the_same_words", side -> {
      answers(side, 4);
      Agent agent = new Agent(side);
      agent.ops.chat(side.name, "Read it.", List.of(PdfFileContent.from(pdf(1), "application/pdf")));
      agent.ops.chat(side.name, "Read it.", List.of(PdfFileContent.from(pdf(2), "application/pdf")));
      agent.ops.chat(side.name, "Read it.", List.of(PdfFileContent.from("https://example.org/a.pdf")));
      agent.asked("and?");
    });
    rows.run("equal_replies_with_other_reasoning", side -> {
      side.script(Side.thought("OK", 0), Side.thought("OK", 1), Side.thought("OK", 2));
      new Agent(side).asked("Is it?", "Is it?", "Is it?");
    });
    rows.run("structured_output", side -> {
      side.script("{\"text\":\"{\\\"city\\\":\\\"A\\\",\\\"rain\\\":true}\"}");
      Agent agent = new Agent(side);
      agent.ops.weather(side.name, "weather?");
      agent.ops.weather(side.name, "and now?");
    });
    rows.absent("handoff", "AI services have none");
    rows.run("nested_agent", side -> {
      Side inner = side.beside("inner");
      side.script(Side.calls("ask", "{\"task\":\"1\"}"), Side.text("done"), Side.calls("ask", "{\"task\":\"2\"}"), Side.text("more"));
      answers(inner, 2);
      Agent helper = new Agent(inner);
      new Agent(side, new Object() {
        @Tool("Asks another agent.")
        String ask(String task) {
          return helper.ops.chat(inner.name, task);
        }
      }).asked("hi", "more");
    });
    rows.absent("swarm", "AI services have none");
    rows.absent("interrupt_and_resume", "an AI service's loop goes on in no other process");
    rows.absent("approval", "a tool that waits for a person is a tool");
    rows.run("clear", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      for (String said : List.of("first", "second", "first")) {
        agent.asked(said, "more");
        agent.memory(side.name).clear();
      }
    });
    rows.run("first_message_edited", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      agent.asked("q0");
      List<ChatMessage> old = agent.messages();
      agent.memory(side.name).clear();
      agent.asked("q0 edited", "q1");
      agent = agent.restarted();
      agent.asked("q2");
      agent.edit(side.name, old);
      agent.asked("q1 of the old one");
    });
    rows.run("later_message_edited", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      agent.asked("q0", "q1", "q2");
      agent.edit(side.name, agent.messages().subList(0, 3));
      agent.asked("q1 edited", "q2");
    });
    rows.run("fork", side -> {
      answers(side, 8);
      Agent agent = new Agent(side);
      agent.asked("q0");
      agent.edit(side.name + "-right", agent.messages());
      for (String words : List.of("left", "go on", "go on")) {
        agent.asked(words);
        agent.ops.chat(side.name + "-right", "not " + words);
      }
    });
    rows.run("user_trims", side -> {
      answers(side, 8);
      Agent agent = new Agent(side);
      agent.asked("q0", "q1", "q2", "q3");
      List<ChatMessage> kept = new ArrayList<>(agent.messages());
      kept.subList(1, 3).clear();
      agent.edit(side.name, kept);
      agent.asked("q4");
      kept = new ArrayList<>(agent.messages());
      kept.subList(3, 5).clear();
      agent.edit(side.name, kept);
      agent.asked("q5", "q6");
    });
    rows.run("two_sessions", side -> {
      answers(side, 10);
      Agent agent = new Agent(side);
      for (int n = 0; n < 5; n++) {
        agent.asked("q" + n);
        agent.ops.chat(side.name + "-other", "q" + n);
      }
    });
    rows.absent("cancel", "two messages of a user, one behind the other, are refused plain too", "anthropic");
    rows.run("cancel", side -> {
      side.script(Side.text("zero"), "{\"text\":\"slowly, word by word, goes this on and on\",\"slow\":true}", Side.text("next"));
      Agent agent = new Agent(side);
      agent.asked("q0");
      CompletableFuture<Object> cancelled = new CompletableFuture<>();
      agent.ops.stream(side.name, "q1").onPartialResponseWithContext((piece, context) -> {
        context.streamingHandle().cancel();
        cancelled.complete(piece);
      }).onCompleteResponse(done -> {}).onError(error -> {}).start();
      cancelled.get(30, TimeUnit.SECONDS);
      Thread.sleep(200);
      agent.asked("q2");
    }, "openai");
    rows.run("two_hundred_steps", side -> {
      String[] script = new String[201];
      Arrays.setAll(script, n -> n < 200 ? Side.calls("weather", "{\"city\":\"c" + n + "\"}") : Side.text("end"));
      side.script(script);
      new Agent(side).asked("go");
    });
    rows.run("restart_of_both", side -> {
      side.script(Side.calls("weather", "{\"city\":\"A\"}"), Side.text("rain"), Side.calls("weather", "{\"city\":\"B\"}"), Side.text("rain too"));
      Agent agent = new Agent(side);
      agent.asked("weather?");
      agent.restarted().asked("and in B?");
    });
    rows.run("away_and_back", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      agent.asked("q0");
      side.away();
      agent.asked("q1", "q2");
      side.back();
      agent.asked("q3", "q4");
    });
    rows.run("large_results", side -> {
      side.script(Side.calls("log", "{\"service\":\"billing\"}", "log", "{\"service\":\"ledger\"}"), Side.text("a log"), Side.text("the same"));
      new Agent(side).asked("why?", "sure?");
    });
    rows.recalls(side -> {
      side.script(Side.text("because"), Side.calls("search_conversation", "{\"query\":\"ledger\"}"), Side.text("so"));
      new Agent(side).asked("Why does the ledger of billing fail?", "What did I ask?");
    }, "ledger of billing");
    rows.play(names);
  }
}
