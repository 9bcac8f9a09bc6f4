package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.HistoryResult;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/** What the client knows of whole lists. */
final class Lists {
  private Lists() {}

  /** The sidecar's hashes over the first elements of a list: over all of them, all but the last, and so on. */
  static List<HistoryResult> fronts(List<String> elements, int most) {
    LinkedList<HistoryResult> fronts = new LinkedList<>();
    byte[] state = new byte[32];
    MessageDigest digest = LocalSidecar.digest();
    for (int i = 0; i < elements.size(); i++) {
      digest.update(state);
      state = digest.digest(elements.get(i).getBytes(StandardCharsets.UTF_8));
      if (i >= elements.size() - most) {
        fronts.addFirst(HistoryResult.newBuilder().setKnownCount(i + 1).setKnownSha256(LocalSidecar.hex(state)).build());
      }
    }
    return fronts;
  }

  /** Whether a list still begins as it did. */
  static boolean isFront(HistoryResult known, List<String> elements) {
    int count = known.getKnownCount();
    return count > 0 && count <= elements.size() && fronts(elements.subList(0, count), 1).get(0).getKnownSha256().equals(known.getKnownSha256());
  }

  /** How far a request can go in a list, behind what is known. */
  static int part(List<String> elements, int known) {
    int bytes = 0;
    int entries = 0;
    int end = known;
    while (end < elements.size()) {
      bytes += Large.bytes(elements.get(end));
      entries += 1 + Large.elements(elements.get(end));
      if (end > known && (bytes > Large.REQUEST || entries > Large.ELEMENTS || end - known == Large.ENTRIES)) {
        break;
      }
      end++;
    }
    return end;
  }

  static boolean leadsWithSystem(List<String> elements) {
    return !elements.isEmpty() && List.of("system", "developer").contains(role(elements.get(0)));
  }

  /** Whether a list holds nothing of a model's. */
  static boolean isFirst(List<String> elements) {
    return elements.stream().allMatch(element -> List.of("user", "system", "developer").contains(role(element)));
  }

  private static String role(String element) {
    return element.startsWith("{") ? Json.string(Json.members(element), "role") : "";
  }
}
