import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ReplyMode } from "../port.ts";

/** A request that the AI SDK wrote and did not send. */
export interface WrittenRequest {
  url: string;
  init: RequestInit;
}

export type WriteRequest = (options: LanguageModelV4CallOptions, mode: ReplyMode) => Promise<WrittenRequest>;

/** Carries a request out of the AI SDK. */
class Written extends Error {
  readonly request: WrittenRequest;

  constructor(request: WrittenRequest) {
    super("a request that is only written");
    this.request = request;
  }
}

/** The `fetch` of a model of the AI SDK that only writes requests. */
export const onlyWrite: typeof fetch = Object.assign(
  (input: string | URL | Request, init: RequestInit = {}) => Promise.reject(new Written({ url: String(input), init })),
  { preconnect: () => {} },
);

/** @param model a model of the AI SDK whose `fetch` is `onlyWrite` */
export function requestWriter(model: Pick<LanguageModelV4, "doStream" | "doGenerate">): WriteRequest {
  return async (options, mode) => {
    try {
      await model[mode === "streamed" ? "doStream" : "doGenerate"](options);
    } catch (error) {
      if (error instanceof Written) return error.request;
      throw error;
    }
    throw new Error("the AI SDK answered without a request");
  };
}

/** What a model with `includeUsage` adds to a streamed request. */
const STREAMED = { stream: true, stream_options: { include_usage: true } };
const ENCODER = new TextEncoder();

/**
 * The same for a package that can write a body by itself. The first request has the address and headers of all later ones, of
 * which only the body is written: that takes a third of the time.
 * @param model its `fetch` is `onlyWrite`, and it includes usage
 */
export function bodyWriter(model: OpenAICompatibleChatLanguageModel): WriteRequest {
  const write = requestWriter(model);
  let first: WrittenRequest | null = null;
  return async (options, mode) => {
    if (!first) {
      const written = await write(options, mode);
      first = { url: written.url, init: { ...written.init, body: null } };
      return written;
    }
    const { body } = await model.prepareRequest(options);
    const text = JSON.stringify(mode === "streamed" ? { ...body, ...STREAMED } : body);
    return { url: first.url, init: { ...first.init, body: ENCODER.encode(text) } };
  };
}

/** The same request without asking for the usage at the end of a stream; null for one that does not ask for it. */
export function withoutStreamOptions({ url, init }: WrittenRequest): WrittenRequest | null {
  const { body } = init;
  const text = typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
  const { stream_options: asked, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return asked === undefined ? null : { url, init: { ...init, body: ENCODER.encode(JSON.stringify(rest)) } };
}

/** The headers in which the protocols send keys. */
const KEY_HEADERS: readonly string[] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** The keys that a request is sent with. */
export function secretsOf({ init }: WrittenRequest): string[] {
  const headers = new Headers(init.headers);
  return KEY_HEADERS.map((name) => headers.get(name)?.replace(/^bearer /i, "") ?? "").filter((key) => key !== "");
}
