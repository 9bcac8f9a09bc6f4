import { create } from "@bufbuild/protobuf";

import { ToolResultSchema, ToolResultState, type ToolResult } from "./gen/palimpsest/v1/message_pb.js";

/** Call is a tool call of the model's that waits for its result. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them, whether they are valid JSON or not. */
  readonly argumentsJson: string;
  /** True for the sidecar's own tools, which Conversation.answer answers. */
  readonly recalls: boolean;
  /** True for OpenAI's custom tools, whose input is text and no JSON. */
  readonly custom: boolean;
}

/**
 * Tool runs a call. It is given the parsed arguments; of a custom tool, whose input is no JSON, the text. A string is the result as it
 * is, anything else becomes JSON. What it throws becomes a result that says so to the model.
 */
export type Tool = (argument: any, call: Call) => unknown;

/** Tools are an agent's tools by name. */
export type Tools = Readonly<Record<string, Tool>>;

/** runTool runs one call, and never fails: the model is told what went wrong. */
export async function runTool(call: Call, tools: Tools): Promise<ToolResult> {
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
  if (!tool) return resultOf(call, `there is no tool ${call.name}`, "error");
  try {
    return resultOf(call, await tool(argument(call), call), "completed");
  } catch (thrown) {
    return resultOf(call, thrown instanceof Error ? thrown.message : String(thrown), "error");
  }
}

/** resultOf makes the result of what a tool returned. */
export function resultOf(call: { id: string; name: string }, value: unknown, state: "completed" | "error"): ToolResult {
  const output = typeof value === "string" || value === undefined
    ? { case: "text" as const, value: value ?? "" }
    : { case: "json" as const, value: JSON.stringify(value) ?? "null" };
  const code = state === "error" ? ToolResultState.ERROR : ToolResultState.COMPLETED;
  return create(ToolResultSchema, { callId: call.id, name: call.name, state: code, output });
}

function argument(call: Call): unknown {
  if (call.custom) return call.argumentsJson;
  if (call.argumentsJson.trim() === "") return {};
  try {
    return JSON.parse(call.argumentsJson);
  } catch {
    throw new Error("the arguments are not valid JSON");
  }
}
