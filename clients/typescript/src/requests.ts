import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import type { Json } from "./formats.js";
import type { BuildContextRequestSchema } from "./gen/palimpsest/v1/context_service_pb.js";

/** BuildFields are fields of a request for a build. */
export type BuildFields = Exclude<MessageInitShape<typeof BuildContextRequestSchema>, MessageShape<typeof BuildContextRequestSchema>>;

/** BuildOptions say what is built for. All else that a builder is given is handed on to the SDK's call. */
export interface BuildOptions {
  model: string;
  /** The system prompt. */
  system?: string;
  /** The agent's own tools, as the provider takes them. */
  tools?: readonly object[];
  /** Whether the tools are added by which the model gets text back: true by default, but for sync, where they are the framework's. */
  recallTools?: boolean;
  /** Further fields of BuildContextRequest, such as budget or sameTurn. */
  build?: BuildFields;
}

/** Passed is what the caller hands on, in the types that SDKs take. */
type Passed<O> = { -readonly [K in Exclude<keyof O, "system" | "tools" | "recallTools" | "build">]: O[K] extends readonly (infer E)[] ? E[] : O[K] };

/** OpenAIRequest is what chat.completions.create takes. */
export type OpenAIRequest<O> = Passed<O> & { messages: any[]; tools?: any[]; prompt_cache_key?: string };

/** ResponsesRequest is what responses.create takes. */
export type ResponsesRequest<O> = Passed<Omit<O, "include">> & {
  input: any[]; instructions?: string; tools?: any[]; store: false; include: any[]; prompt_cache_key?: string;
};

/** AnthropicRequest is what messages.create takes. */
export type AnthropicRequest<O> = Passed<O> & { messages: any[]; system?: any; tools?: any[] };

/** GeminiRequest is what models.generateContent takes. */
export type GeminiRequest<O> = Passed<Omit<O, "config">> & { contents: any[]; config: any };

/** passed are the options that are the SDK's. */
export function passed(options: BuildOptions): Json {
  const { system, tools, recallTools, build, ...rest } = options;
  return rest;
}
