const names = ["expand_message", "retrieve_content", "search_conversation", "search_memory"];

/** isRecallTool says whether the sidecar answers calls of a tool: one of its own, also behind the prefix of a tool server. */
export function isRecallTool(name: string): boolean {
  return names.some((own) => name === own || (name.endsWith(own) && /(?:__|[./-])$/.test(name.slice(0, -own.length))));
}
