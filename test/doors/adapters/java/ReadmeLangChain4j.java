import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.langchain4j.PalimpsestChat;

/** The program of the adapter's README. */
final class ReadmeLangChain4j {
  interface Assistant {
    String chat(@MemoryId String id, @UserMessage String text);
  }

  static final class Tools {
    @dev.langchain4j.agent.tool.Tool("Reads a log.")
    String fetch_log(String service) {
      return "09:00:00 FATAL " + service + ": the disk of the ledger is full";
    }
  }

  public static void main(String[] none) {
    ChatModel model = OpenAiChatModel.builder().baseUrl(System.getenv("OPENAI_BASE_URL")).apiKey("none").modelName("gpt-6-sol").build();
    InMemoryChatMemoryStore store = new InMemoryChatMemoryStore();
    // [service]
    try (Palimpsest p = Palimpsest.local()) {
      PalimpsestChat palimpsest = new PalimpsestChat(p::conversation, "gpt-6-sol");
      AiServices<Assistant> services =
          AiServices.builder(Assistant.class)
              .chatModel(model)
              .chatMemoryProvider(id -> MessageWindowChatMemory.builder().id(id).maxMessages(Integer.MAX_VALUE).chatMemoryStore(store).build())
              .tools(new Tools());
      Assistant assistant = palimpsest.join(services).build();
      System.out.println(assistant.chat("c1", "Why does billing fail?"));
    }
    // [/service]
  }
}
