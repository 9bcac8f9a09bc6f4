import { ContextFormat } from "./gen/palimpsest/v1/context_pb.js";

/** Format names a provider's API: OpenAI's Chat Completions and Responses, Anthropic's Messages, Gemini's generateContent. */
export type Format = "openai" | "responses" | "anthropic" | "gemini";

/** Json is a JSON object as an SDK takes or gives it. */
export type Json = Record<string, any>;

/** contextFormat is the API's number of a format. */
export const contextFormat: Record<Format, ContextFormat> = {
  openai: ContextFormat.OPENAI_CHAT,
  responses: ContextFormat.OPENAI_RESPONSES,
  anthropic: ContextFormat.ANTHROPIC,
  gemini: ContextFormat.GEMINI,
};

/** formatOfReply says whose answer an object is. */
export function formatOfReply(reply: Json): Format | undefined {
  if ("choices" in reply) return "openai";
  if (reply.object === "response" || Array.isArray(reply.output)) return "responses";
  if ("candidates" in reply) return "gemini";
  return reply.type === "message" ? "anthropic" : undefined;
}

/** WireCall is a tool call as it stands in a reply. */
export interface WireCall {
  id: string;
  name: string;
  arguments: string;
  /** True for OpenAI's custom tools, whose input is text and no JSON. */
  custom: boolean;
}

/** wireCalls reads the calls of a reply. Gemini's may have no id. */
export function wireCalls(format: Format, reply: Json): WireCall[] {
  switch (format) {
    case "openai":
      return list(reply.choices?.[0]?.message?.tool_calls).map((call) => call.type === "custom"
        ? { id: call.id, name: call.custom.name, arguments: call.custom.input, custom: true }
        : { id: call.id, name: call.function.name, arguments: call.function.arguments, custom: false });
    case "responses":
      return list(reply.output).filter((item) => item.type === "function_call" || item.type === "custom_tool_call")
        .map((item) => ({ id: item.call_id, name: item.name, arguments: item.arguments ?? item.input, custom: item.type === "custom_tool_call" }));
    case "anthropic":
      return list(reply.content).filter((block) => block.type === "tool_use")
        .map((block) => ({ id: block.id, name: block.name, arguments: JSON.stringify(block.input), custom: false }));
    case "gemini":
      return list(reply.candidates?.[0]?.content?.parts).filter((part) => part.functionCall)
        .map(({ functionCall: call }) => ({ id: call.id ?? "", name: call.name, arguments: JSON.stringify(call.args ?? {}), custom: false }));
  }
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}
