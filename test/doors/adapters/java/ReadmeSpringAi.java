import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.spring_ai.PalimpsestAdvisor;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;

/** The program of the adapter's README. */
final class ReadmeSpringAi {
  static final class Tools {
    @Tool(description = "Reads a log.")
    public String fetch_log(String service) {
      return "09:00:00 FATAL " + service + ": the disk of the ledger is full";
    }
  }

  public static void main(String[] none) {
    OpenAiChatOptions options = OpenAiChatOptions.builder().baseUrl(System.getenv("OPENAI_BASE_URL")).apiKey("none").model("gpt-6-sol").build();
    ChatModel model = OpenAiChatModel.builder().options(options).build();
    ChatMemoryRepository repository = new InMemoryChatMemoryRepository();
    // [client]
    try (Palimpsest p = Palimpsest.local()) {
      ChatMemory memory = MessageWindowChatMemory.builder().chatMemoryRepository(repository).maxMessages(Integer.MAX_VALUE).build();
      ChatClient client =
          ChatClient.builder(model)
              .defaultTools(new Tools())
              .defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).order(ToolCallingAdvisor.DEFAULT_ORDER + 1).build())
              .defaultAdvisors(PalimpsestAdvisor.all(p::conversation))
              .build();
      System.out.println(client.prompt("Why does billing fail?").advisors(a -> a.param(ChatMemory.CONVERSATION_ID, "c1")).call().content());
    }
    // [/client]
    System.exit(0); // the model's client leaves threads behind
  }
}
