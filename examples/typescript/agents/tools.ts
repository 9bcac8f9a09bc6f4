// What the agents' tools are, in the form of each provider, and what they do.

/** cite has long results cited: the model sees a short text, and asks for the part that it needs. */
export const cite = { citations: { enabled: true, thresholdChars: 3000 } };

const string = { type: "string" };
const schemas = {
  get_weather: { type: "object", properties: { city: string }, required: ["city"] },
  web_search: { type: "object", properties: { q: string }, required: ["q"] },
  fetch_log: { type: "object", properties: { service: string }, required: ["service"] },
};
const each = Object.entries(schemas);

export const openaiTools = each.map(([name, parameters]) => ({ type: "function" as const, function: { name, parameters } }));
export const responsesTools = each.map(([name, parameters]) => ({ type: "function" as const, name, parameters, strict: false }));
export const anthropicTools = each.map(([name, input_schema]) => ({ name, input_schema }));
export const geminiTools = [{ functionDeclarations: each.map(([name, parametersJsonSchema]) => ({ name, parametersJsonSchema })) }];

export const tools = {
  get_weather: async ({ city }: { city: string }) => ({ city, celsius: 21, sky: "clear" }),
  web_search: async ({ q }: { q: string }) => [{ title: `About ${q}`, url: "https://status.example/1" }],
  fetch_log: async ({ service }: { service: string }) => log(service), // a megabyte, of which the model needs a line
};

function log(service: string): string {
  const lines = Array.from({ length: 16_000 }, (_, i) => `2026-03-01T02:00:07Z INFO ${service} worker ${i % 7}: part ${i} of the upload is done`);
  lines[9_000] = `2026-03-01T02:31:40Z FATAL ${service} worker 3: the disk is full`;
  return lines.join("\n");
}
