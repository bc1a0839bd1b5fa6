// The answers of OpenAI's API that wick gives, as the official client's own types have them: Stainless makes those of OpenAI's
// published OpenAPI document. ts-json-schema-generator turns them into the schemas that node_clients.mjs holds answers against.
import type OpenAI from "openai";

// A piece of a streamed text completion. OpenAI's document has one component for the whole answer and its pieces, and there finish_reason
// and usage are never null. Its API sends null all the same: finish_reason in all pieces but a choice's last (openai/openai-openapi#100
// shows such a stream), usage in all but the last piece, as the document itself says of stream_options.include_usage. So do we.
type Choice = OpenAI.CompletionChoice;
interface CompletionChunk extends Omit<OpenAI.Completion, "choices" | "usage"> {
  choices: Array<Omit<Choice, "finish_reason"> & { finish_reason: Choice["finish_reason"] | null }>;
  usage?: OpenAI.CompletionUsage | null;
}

export interface Answers {
  chat: OpenAI.Chat.Completions.ChatCompletion;
  chatChunk: OpenAI.Chat.Completions.ChatCompletionChunk;
  completion: OpenAI.Completion;
  completionChunk: CompletionChunk;
  embeddings: OpenAI.CreateEmbeddingResponse;
  models: { object: "list"; data: Array<OpenAI.Model> };
  response: OpenAI.Responses.Response;
  responseEvent: OpenAI.Responses.ResponseStreamEvent;
  error: OpenAI.ErrorObject;
}
