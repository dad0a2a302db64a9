import type { TObject, TSchema } from "@sinclair/typebox";
import type { Access } from "../auth/identify.ts";

/** What one route accepts and answers: the gate checks by it, and the document says it. */
export interface Operation<B extends TObject = TObject, Q extends TObject = TObject> {
  /** camelCase, the name of a generated client's method. */
  id: string;
  tag: "Agents" | "Prompts" | "Chat" | "Conversations" | "Catalogue" | "Management";
  summary: string;
  description?: string;
  /** Of the key that is needed, or what is needed in place of one. */
  scope: Access;
  /** Bytes that the 200 answer may have, where that is much. */
  answerBytesMax?: number;
  body?: B;
  /** What its body may have, else what bodies may have generally. */
  bodyBytesMax?: number;
  query?: Q;
  /** Throws what refuses the request before any of its body is read. */
  beforeBody?: (request: Request) => Promise<void>;
  /** Of the 200 answer's JSON. */
  response: TSchema;
  /** An answer of another type beside it, and how a client chooses between the two. */
  streamed?: { type: string; description: string; choice: string };
  /** Whether the answer names a chat session in X-Session-ID. */
  namesChat?: boolean;
  /** Whether the answer gives or takes the session's cookie. */
  setsCookie?: boolean;
  /** What the route can refuse beyond what every route can. */
  refuses?: readonly Refusal[];
}

export type Refusal = "condition" | "not_found" | "forbidden" | "conflict" | "model";

/** Whether a request may carry an Idempotency-Key. */
export function takesKey(method: string, scope: Access): boolean {
  return method !== "GET" && method !== "HEAD" && isPublic(scope);
}

/** Whether it is of the public API, which keys open; the management API is for those who sign in. */
export function isPublic(scope: Access): boolean {
  return scope !== "session" && scope !== "anyone";
}
