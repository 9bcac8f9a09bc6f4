package io.github.palimpsest_context;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A sidecar on this machine, for as long as the program wants it.
 *
 * <p>It listens on a Unix socket in a folder that its user alone can enter. Where gRPC has no transport for these, it listens on a port of
 * loopback, which other users can reach, and asks for a token that was made for it.
 */
final class LocalSidecar implements AutoCloseable {
  private static final String BINARY = "PALIMPSEST_BINARY";
  private static final int PATIENCE_SECONDS = 10; // until a sidecar that was asked to end is killed
  private static final int LOGGED = 2000; // of the log's last characters in an error
  private static final Pattern PORT = Pattern.compile("127\\.0\\.0\\.1:[1-9]\\d*");

  private final Path folder;
  private final Path log;
  private final boolean unix;
  private final Process process;
  final String token;

  LocalSidecar(Options options) {
    String binary = find(options.binary);
    unix = Transport.hasUnix() && !options.tcp;
    token = unix ? "" : random();
    try {
      // The path of a socket may have about a hundred bytes, so that the folder's name must be short. It is the user's alone.
      folder = Files.createTempDirectory("palimpsest-");
      log = folder.resolve("sidecar.log");
      process = new ProcessBuilder(command(binary, options)).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    } catch (IOException failure) {
      throw new LocalSidecarException(binary + " does not start", failure);
    }
  }

  private List<String> command(String binary, Options options) throws IOException {
    List<String> command = new ArrayList<>(List.of(binary, "serve", "--until-stdin-ends", "--listen"));
    if (unix) {
      command.add("unix://" + folder.resolve("p.sock"));
    } else {
      command.addAll(List.of("127.0.0.1:0", "--credentials", credentials().toString()));
    }
    command.addAll(options.dataDir == null ? List.of("--store", "memory") : List.of("--store", "bolt", "--data-dir", options.dataDir.toString()));
    command.addAll(options.arguments);
    return command;
  }

  private Path credentials() throws IOException {
    Path file =
        Files.createFile(folder.resolve("credentials.yaml"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, "tokens: [{name: local, namespace: default, role: operator, sha256: " + sha256(token) + "}]\n");
  }

  /** Where it listens, once it does. */
  String listening(Duration timeout) {
    try {
      for (long end = System.nanoTime() + timeout.toNanos(); System.nanoTime() < end; Thread.sleep(5)) {
        if (!process.isAlive()) {
          throw new LocalSidecarException("the sidecar ended" + last(), null);
        }
        String address = address();
        if (address != null) {
          return address;
        }
      }
    } catch (InterruptedException interrupted) {
      throw PalimpsestException.interrupted(interrupted);
    }
    throw new LocalSidecarException("the sidecar does not listen after " + timeout + last(), null);
  }

  private String address() {
    if (unix) {
      Path socket = folder.resolve("p.sock");
      return Files.exists(socket) ? "unix://" + socket : null;
    }
    Matcher port = PORT.matcher(said());
    return port.find() ? port.group() : null;
  }

  /** Why it does not serve. */
  LocalSidecarException failed(RuntimeException failure) {
    return new LocalSidecarException("the sidecar does not serve: " + failure.getMessage() + last(), failure);
  }

  private String last() {
    String said = said().trim();
    return said.isEmpty() ? "" : ". It logged last:\n" + said.substring(Math.max(0, said.length() - LOGGED)).trim();
  }

  private String said() {
    try {
      return Files.readString(log);
    } catch (IOException unreadable) {
      return "";
    }
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> left = Files.walk(folder)) {
      left.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException gone) {
      return; // what is left is in a folder for temporary files
    }
  }

  /** The binary to start: the one that is named, that of the environment, or the first on PATH. */
  private static String find(String named) {
    String chosen = named.isEmpty() ? System.getenv().getOrDefault(BINARY, "") : named;
    List<String> names = chosen.isEmpty() ? List.of("palimpsest", "sidecar") : List.of(chosen);
    for (String name : names) {
      if (name.contains(File.separator) && Files.isExecutable(Paths.get(name))) {
        return name;
      }
      for (String at : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
        Path path = Paths.get(at, name);
        if (!name.contains(File.separator) && Files.isExecutable(path) && !Files.isDirectory(path)) {
          return path.toString();
        }
      }
    }
    throw new LocalSidecarException(
        chosen.isEmpty() ? "no sidecar is on PATH: name its binary, or set " + BINARY : chosen + " is no program", null);
  }

  private static String random() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return hex(bytes);
  }

  private static String sha256(String text) {
    return hex(digest().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java has it
    }
  }

  static String hex(byte[] bytes) {
    StringBuilder out = new StringBuilder();
    for (byte b : bytes) {
      out.append(String.format("%02x", b));
    }
    return out.toString();
  }
}
