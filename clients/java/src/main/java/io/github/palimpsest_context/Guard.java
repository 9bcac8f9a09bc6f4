package io.github.palimpsest_context;

import java.util.concurrent.atomic.AtomicReference;

/** Lets one thread at a time into a conversation. It may come in again. */
final class Guard implements AutoCloseable {
  private final AtomicReference<Thread> inside = new AtomicReference<>();
  private int depth;

  Guard enter() {
    Thread me = Thread.currentThread();
    Thread other = inside.get();
    if (other != me && !inside.compareAndSet(null, me)) {
      throw new IllegalStateException(
          "another thread" + (other == null ? "" : ", " + other.getName() + ",") + " is using this conversation: wait for it, take another object of the"
              + " conversation for each thread, or ask with later");
    }
    depth++;
    return this;
  }

  @Override
  public void close() {
    if (--depth == 0) {
      inside.set(null);
    }
  }
}
