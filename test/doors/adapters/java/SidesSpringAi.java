import io.github.palimpsest_context.spring_ai.PalimpsestAdvisor;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.content.Media;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.util.MimeTypeUtils;

/** Spring AI with and without the adapter: what each provider gets. */
final class SidesSpringAi {
  private static final int WITHIN = ToolCallingAdvisor.DEFAULT_ORDER + 1; // the loop of tools: the memory holds calls and results

  record Weather(String city, boolean rain) {}

  static final class Tools {
    @Tool(description = "Tells the weather.")
    public String weather(String city) {
      return "Rain in " + city + ". ".repeat(10);
    }

    @Tool(description = "Fails.")
    public String fails(int x) {
      throw new IllegalStateException("the disk is full");
    }

    @Tool(description = "Reads a log.")
    public String log(String service) {
      StringBuilder log = new StringBuilder();
      for (int i = 0; i < 1000; i++) {
        log.append("08:00:").append(i % 60).append(" INFO ").append(service).append(": invoice ").append(i).append(" was sent\n");
      }
      return log.toString();
    }
  }

  /** An agent of a run, and the memories that it shares with those after a restart. */
  static final class Agent {
    final Side side;
    final InMemoryChatMemoryRepository store;
    final ChatClient client;

    Agent(Side side, Record... tools) {
      this(WITHIN, side, new InMemoryChatMemoryRepository(), tools);
    }

    Agent(int order, Side side, InMemoryChatMemoryRepository store, Record... tools) {
      this.side = side;
      this.store = store;
      List<Object> all = new ArrayList<>(List.<Object>of((Object[]) tools));
      all.add(0, new Tools());
      List<Advisor> advisors = new ArrayList<>(side.plain() ? List.of() : PalimpsestAdvisor.all(side::conversation));
      ChatMemory memory = MessageWindowChatMemory.builder().chatMemoryRepository(store).maxMessages(Integer.MAX_VALUE).build();
      advisors.add(MessageChatMemoryAdvisor.builder(memory).order(order).build());
      ToolCallingAdvisor.Builder<?> running =
          ToolCallingAdvisor.builder().toolCallingManager(DefaultToolCallingManager.builder().unlimitedCallsPerTool().unlimitedTotalToolCalls().build());
      advisors.add((order == WITHIN ? running.disableInternalConversationHistory() : running).build());
      this.client = ChatClient.builder(model(side)).defaultSystem("Be terse.").defaultTools(all.toArray()).defaultAdvisors(advisors).build();
    }

    ChatClient.ChatClientRequestSpec in(String id) {
      return client.prompt().advisors(a -> a.param(ChatMemory.CONVERSATION_ID, id));
    }

    void asked(String... said) {
      Arrays.stream(said).forEach(words -> in(side.name).user(words).call().content());
    }

    void streamed(String said) {
      in(side.name).user(said).stream().content().collectList().block();
    }

    List<Message> messages() {
      return store.findByConversationId(side.name);
    }

    void edit(String id, List<Message> messages) {
      store.saveAll(id, new ArrayList<>(messages));
    }

    Agent restarted() {
      side.restart();
      return new Agent(WITHIN, side, store);
    }
  }

  private SidesSpringAi() {}

  static ChatModel model(Side side) {
    if (side.api.equals("anthropic")) {
      AnthropicChatOptions.Builder options = AnthropicChatOptions.builder().baseUrl(side.url()).apiKey("none").model(side.model);
      options.maxRetries(0).maxTokens(2000);
      return AnthropicChatModel.builder().options((side.thinks ? options.thinkingEnabled(1024) : options).build()).build();
    }
    OpenAiChatOptions options = OpenAiChatOptions.builder().baseUrl(side.url() + "/v1").apiKey("none").model(side.model).maxRetries(0).build();
    return OpenAiChatModel.builder().options(options).build();
  }

  static byte[] bytes(int size, int seed) {
    byte[] png = Base64.getDecoder().decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
    byte[] out = Arrays.copyOf(png, size);
    for (int i = png.length; i < size; i++) {
      out[i] = (byte) ((i * 7919 + seed) % 251);
    }
    return out;
  }

  /** A document, whose name is drawn by chance unless it is given. */
  static Media pdf(int seed) {
    return Media.builder().mimeType(Media.Format.DOC_PDF).data(("%PDF-1.4\n% document " + seed + "\n%%EOF").getBytes()).name("document").build();
  }

  static void answers(Side side, int count) {
    String[] all = new String[count];
    Arrays.setAll(all, n -> Side.text("answer " + n));
    side.script(all);
  }

  public static void main(String[] names) throws Exception {
    // A memory keeps thoughts as replies of their own, which Anthropic refuses, plain too.
    Side.thoughtless = "anthropic";
    Rows rows = new Rows("openai", "anthropic");
    rows.run("text", side -> {
      answers(side, 2);
      new Agent(side).asked("hi", "and?");
    });
    rows.run("parallel_calls", side -> {
      for (int order : new int[] {WITHIN, Advisor.DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER}) { // where the memory sees what tools say, and where not
        side.script(Side.calls("weather", "{\"city\":\"A\"}", "weather", "{\"city\":\"B\"}"), Side.text("rain"));
        new Agent(order, side, new InMemoryChatMemoryRepository()).asked("weather?", "sure?");
      }
    });
    rows.run("tool_error", side -> {
      side.script(Side.calls("fails", "{\"x\":1}", "weather", "{\"city\":\"A\"}"), Side.text("it fails"));
      new Agent(side).asked("try", "again?");
    });
    rows.run("streaming", side -> {
      side.script(Side.calls("weather", "{\"city\":\"A\"}"), Side.text("It rains in A."));
      Agent agent = new Agent(side);
      agent.streamed("weather?");
      agent.streamed("sure?");
      agent.asked("really?");
    });
    rows.run("image_in", side -> {
      answers(side, 2);
      Agent agent = new Agent(side);
      Media image = Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(bytes(20_000, 0)).build();
      Media other = new Media(MimeTypeUtils.IMAGE_PNG, URI.create("https://example.org/a.png"));
      agent.in(side.name).user(user -> user.text("what is it?").media(image, other)).call().content();
      agent.asked("sure?");
    });
    rows.absent("image_out_of_a_tool", "results are text");
    rows.run("pdf_twice_with_the_same_words", side -> {
      answers(side, 3);
      Agent agent = new Agent(side);
      for (int seed : new int[] {1, 2}) {
        agent.in(side.name).user(user -> user.text("Read it.").media(pdf(seed))).call().content();
      }
      agent.asked("and?");
    });
    rows.run("equal_replies_with_other_reasoning", side -> {
      side.script(Side.thought("OK", 0), Side.thought("OK", 1), Side.thought("OK", 2));
      new Agent(side).asked("Is it?", "Is it?", "Is it?");
    }, "openai");
    rows.run("equal_replies_with_other_reasoning", side -> {
      String call = ",\"calls\":[{\"name\":\"weather\",\"arguments\":{\"city\":\"A\"}}]}";
      side.thoughts("{\"thinking\":\"thought 0\"" + call, "{\"thinking\":\"thought 1\"" + call, "{\"text\":\"OK\"}");
      new Agent(Advisor.DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER, side, new InMemoryChatMemoryRepository()).asked("Is it?");
    }, "anthropic");
    rows.run("structured_output", side -> {
      side.script("{\"text\":\"{\\\"city\\\":\\\"A\\\",\\\"rain\\\":true}\"}");
      Agent agent = new Agent(side);
      agent.in(side.name).user("weather?").call().entity(Weather.class);
      agent.in(side.name).user("and now?").call().entity(Weather.class);
    });
    rows.absent("handoff", "chat clients have none");
    rows.run("nested_agent", side -> {
      Side inner = side.beside("inner");
      side.script(Side.calls("ask", "{\"task\":\"1\"}"), Side.text("done"), Side.calls("ask", "{\"task\":\"2\"}"), Side.text("more"));
      answers(inner, 2);
      Agent helper = new Agent(inner);
      new Agent(side, new Helper(helper)).asked("hi", "more");
    });
    rows.absent("swarm", "chat clients have none");
    rows.absent("interrupt_and_resume", "a chat client's loop goes on in no other process");
    rows.absent("approval", "a tool that waits for a person is a tool");
    rows.run("clear", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      for (String said : List.of("first", "second", "first")) {
        agent.asked(said, "more");
        agent.store.deleteByConversationId(side.name);
      }
    });
    rows.run("first_message_edited", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      agent.asked("q0");
      List<Message> old = agent.messages();
      agent.store.deleteByConversationId(side.name);
      agent.asked("q0 edited", "q1");
      agent = agent.restarted();
      agent.asked("q2");
      agent.edit(side.name, old);
      agent.asked("q1 of the old one");
    });
    rows.run("later_message_edited", side -> {
      answers(side, 6);
      Agent agent = new Agent(side);
      agent.asked("q0");
      int kept = agent.messages().size();
      agent.asked("q1", "q2");
      agent.edit(side.name, agent.messages().subList(0, kept));
      agent.asked("q1 edited", "q2");
    });
    rows.run("fork", side -> {
      answers(side, 8);
      Agent agent = new Agent(side);
      agent.asked("q0");
      agent.edit(side.name + "-right", agent.messages());
      for (String words : List.of("left", "go on", "go on")) {
        agent.asked(words);
        agent.in(side.name + "-right").user("not " + words).call().content();
      }
    });
    rows.run("user_trims", side -> {
      answers(side, 8);
      Agent agent = new Agent(side);
      agent.asked("q0");
      int turn = agent.messages().size();
      agent.asked("q1", "q2", "q3");
      List<Message> kept = new ArrayList<>(agent.messages());
      kept.subList(0, turn).clear();
      agent.edit(side.name, kept);
      agent.asked("q4");
      kept = new ArrayList<>(agent.messages());
      kept.subList(turn, 2 * turn).clear();
      agent.edit(side.name, kept);
      agent.asked("q5", "q6");
    });
    rows.run("two_sessions", side -> {
      answers(side, 10);
      Agent agent = new Agent(side);
      for (int n = 0; n < 5; n++) {
        agent.asked("q" + n);
        agent.in(side.name + "-other").user("q" + n).call().content();
      }
    });
    rows.absent("cancel", "two messages of a user, one behind the other, are refused plain too", "anthropic");
    rows.run("cancel", side -> {
      side.script(Side.text("zero"), "{\"text\":\"slowly, word by word, goes this on and on\",\"slow\":true}", Side.text("next"));
      Agent agent = new Agent(side);
      agent.asked("q0");
      agent.in(side.name).user("q1").stream().content().take(1).collectList().block();
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
      String calls = Side.calls("log", "{\"service\":\"billing\"}", "weather", "{\"city\":\"A\"}", "log", "{\"service\":\"ledger\"}");
      side.script(calls, Side.text("a log"), Side.text("the same"));
      new Agent(side).asked("why?", "sure?");
    });
    rows.recalls(side -> {
      side.script(Side.text("because"), Side.calls("search_conversation", "{\"query\":\"ledger\"}"), Side.text("so"));
      new Agent(side).asked("Why does the ledger of billing fail?", "What did I ask?");
    }, "ledger of billing");
    rows.play(names);
  }

  /** Another agent as a tool. */
  public record Helper(Agent agent) {
    @Tool(description = "Asks another agent.")
    public String ask(String task) {
      return agent.in(agent.side.name).user(task).call().content();
    }
  }
}
