import io.github.palimpsest_context.Call;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.Request;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

/**
 * An agent that asks a model, over HTTP alone, what its arguments say. It starts a sidecar for itself, which is found by PALIMPSEST_BINARY
 * or on PATH. Its tools stand in Tools.java.
 */
final class Agent {
  // [agent]
  public static void main(String[] said) throws Exception {
    try (Palimpsest p = Palimpsest.local()) {
      Conversation conv = p.conversation("billing", Tools.policy());
      for (String one : said) {
        conv.user(one);
        for (List<Call> calls = ask(conv); !calls.isEmpty(); calls = ask(conv)) {
          conv.answer(calls, Tools.all());
        }
      }
    }
  }

  static List<Call> ask(Conversation conv) throws Exception {
    String body = conv.openai(Request.of(Tools.model()).system("You are terse.").tools(Tools.definitions()));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(Tools.url()))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + System.getenv("OPENAI_API_KEY"))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    String reply = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    System.out.println(reply);
    return conv.add(reply);
  }
  // [/agent]
}
