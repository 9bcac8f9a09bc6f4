package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.ContextFormat;

/** A provider's API. */
public enum Format {
  /** OpenAI's Chat Completions. */
  OPENAI(ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT, "openai_chat"),
  /** OpenAI's Responses. */
  RESPONSES(ContextFormat.CONTEXT_FORMAT_OPENAI_RESPONSES, "openai_responses"),
  /** Anthropic's Messages. */
  ANTHROPIC(ContextFormat.CONTEXT_FORMAT_ANTHROPIC, "anthropic"),
  /** Gemini's generateContent. */
  GEMINI(ContextFormat.CONTEXT_FORMAT_GEMINI, "gemini");

  final ContextFormat code;
  final String tools; // the file of tools in this form

  Format(ContextFormat code, String tools) {
    this.code = code;
    this.tools = tools;
  }
}
