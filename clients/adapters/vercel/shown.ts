// Views as prompts: what is shown whole is the caller's own, and what is not is a copy with other words.
import type { Json } from "../formats.js";
import type { Piece } from "../piece.js";
import { object } from "./dialects.js";
import type { Element, Message, Own } from "./prompt.js";

type Block = { role: string; part: Json; inner?: Block[] };

/** promptOf is what a view shows of a prompt. */
export function promptOf(pieces: readonly Piece[], elements: readonly Element[], prompt: readonly Message[]): Message[] {
  const names = new Map<string, string>(); // of tools, by calls
  for (const { type, toolCallId, toolName } of prompt.flatMap(({ content }) => content)) if (type === "tool-call") names.set(toolCallId, toolName);
  const out: Own[] = [];
  for (const { whole, indexes, shown } of pieces) {
    const own = indexes.flatMap((i) => elements[i]!.own);
    for (const next of whole ? own : changed(shown.flatMap(blocksOf), own, names)) {
      const last = out.at(-1);
      if (!last || last.at !== next.at || last.message["role"] !== next.message["role"] || !Array.isArray(next.message["content"])) out.push(next);
      else out[out.length - 1] = { at: last.at, message: { ...last.message, content: [...last.message["content"], ...next.message["content"]] } };
    }
  }
  return out.map(({ at, message }) => (alike(prompt[at], message) ? prompt[at]! : message));
}

/** alike says whether a message is put together of all that was in it. */
function alike(own: Message | undefined, { content }: Message): boolean {
  return Array.isArray(content) && content.length === own?.["content"].length && content.every((part, i) => part === own["content"][i]);
}

function changed(blocks: readonly Block[], own: readonly Own[], names: Map<string, string>): Own[] {
  const parts = own.flatMap(({ at, message }) => (Array.isArray(message["content"]) ? message["content"].map((part: Json) => ({ at, message, part })) : []));
  return blocks.flatMap(({ role, part, inner }) => {
    const found = parts.findIndex(({ message, part: { type } }) => message["role"] === role && type === part["type"]);
    const at0 = own[0]?.message["role"] === role ? own[0].at : -1;
    const { at, message, part: mine } = parts.splice(found, found < 0 ? 0 : 1)[0] ?? { at: at0, message: { role }, part: undefined };
    if (role === "system") return { at, message: { ...own[0]?.message, role, content: part["text"] } };
    if (part["type"] === "tool-call") names.set(part["toolCallId"], part["toolName"]);
    if (!mine && (part["type"] === "reasoning" || part["type"] === "file")) return []; // of which only the provider's own is worth sending
    const words = "text" in part ? { text: part["text"] } : "input" in part ? { input: part["input"] } : {};
    const toolName = names.get(part["toolCallId"]) ?? part["toolName"];
    const made = inner ? { ...part, toolName, ...mine, output: outputOf(inner, mine?.output) } : { ...part, ...mine, ...words };
    return { at, message: { ...message, content: [made] } };
  });
}

function outputOf(inner: readonly Block[], own: Json | undefined): Json {
  const value = inner.map(({ part }) => part["text"] ?? "").join("\n");
  if (own?.["type"] !== "content") return { type: own?.["type"].startsWith("error") ? "error-text" : "text", value };
  const files = own["value"].filter(({ type }: Json) => type !== "text");
  return { ...own, value: inner.flatMap(({ part }) => (part["type"] === "text" ? part : (files.shift() ?? []))) };
}

function blocksOf(element: Json): Block[] {
  const { type, role: said, call_id, tool_call_id } = element;
  const role = said === "model" ? "assistant" : said === "developer" ? "system" : said;
  if (type === "function_call") return [call(call_id, element["name"], element["arguments"])];
  if (type === "reasoning") return [{ role: "assistant", part: { type } }];
  if (role === "tool" || type === "function_call_output") return [result(call_id ?? tool_call_id, "", inside("tool", element["content"] ?? element["output"]))];
  return [...inside(role, element["content"] ?? element["parts"]), ...(element["tool_calls"] ?? []).map(({ id, function: { name, arguments: input } }: Json) => call(id, name, input))];
}

function inside(role: string, content: string | Json[] | null): Block[] {
  if (typeof content === "string") return content ? [{ role, part: { type: "text", text: content } }] : [];
  return (content ?? []).map(({ type, text, thought, functionCall, functionResponse, ...block }) => {
    if (functionCall) return call(functionCall.id, functionCall.name, functionCall.args);
    if (type === "tool_use") return call(block["id"], block["name"], block["input"]);
    if (functionResponse) {
      const values = Object.values(functionResponse.response ?? {});
      const said = values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(functionResponse.response);
      return result(functionResponse.id, functionResponse.name, [...inside("tool", said), ...inside("tool", functionResponse.parts)]);
    }
    if (type === "tool_result") return result(block["tool_use_id"], "", inside("tool", block["content"]));
    if (thought || /thinking$/.test(type ?? "")) return { role, part: { type: "reasoning" } };
    return { role, part: typeof text === "string" ? { type: "text", text } : { type: "file" } };
  });
}

const call = (toolCallId: string, toolName: string, input: unknown): Block => (
  { role: "assistant", part: { type: "tool-call", toolCallId, toolName, input: object(input) } });
const result = (toolCallId: string, toolName: string, inner: Block[]): Block => ({ role: "tool", part: { type: "tool-result", toolCallId, toolName }, inner });
