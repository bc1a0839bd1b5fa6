// The answers of OpenAI's API that wick gives, as the official client's own types have them: Stainless makes those of OpenAI's
// published OpenAPI document. ts-json-schema-generator turns them into the schemas that node_clients.mjs holds answers against.
import type OpenAI from "openai";

export interface Answers {
  chat: OpenAI.Chat.Completions.ChatCompletion;
  chatChunk: OpenAI.Chat.Completions.ChatCompletionChunk;
  completion: OpenAI.Completion;
  embeddings: OpenAI.CreateEmbeddingResponse;
  model: OpenAI.Model;
  response: OpenAI.Responses.Response;
  responseEvent: OpenAI.Responses.ResponseStreamEvent;
  error: OpenAI.ErrorObject;
}
