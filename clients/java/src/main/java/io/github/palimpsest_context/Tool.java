package io.github.palimpsest_context;

/** A tool of the program's. */
@FunctionalInterface
public interface Tool {
  /**
   * Runs the tool.
   *
   * @param arguments as the model wrote them
   * @return what the model is told
   * @throws Exception which the model is told of, and may mend its call
   */
  String run(String arguments) throws Exception;
}
