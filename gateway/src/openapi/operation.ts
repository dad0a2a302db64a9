import type { TObject, TSchema } from "@sinclair/typebox";
import type { Access } from "../auth/identify.ts";
import type { RequestHeader } from "./parameters.ts";

/** The requests and responses of one route: the gate enforces them, and the document describes them. */
export interface Operation<B extends TObject = TObject, Q extends TObject = TObject> {
  /** camelCase: the method's name in a generated client. */
  id: string;
  tag:
    | "Agents"
    | "Tests"
    | "Prompts"
    | "Tools"
    | "Knowledge"
    | "Chat"
    | "Conversations"
    | "Calls"
    | "Catalogue"
    | "Callbacks"
    | "Management";
  summary: string;
  description?: string;
  /** The scope that a key needs (a session has every scope), or what is required instead of a key. */
  scope: Access;
  body?: B;
  /** Limit for the body; the general limit if missing. */
  bodyBytesMax?: number;
  /** Limit for the body's JSON values; the general limit if missing. */
  bodyValuesMax?: number;
  /** What may be sent in place of the body: a form with a file in its field `file`, and the schema of its other fields. */
  form?: { fields: TObject; fileBytesMax: number; file: string };
  /** Whether the request may come without a body. */
  isBodyOptional?: boolean;
  query?: Q;
  /** Whether the answer has a page or a transcript, and so up to megabytes. */
  isList?: boolean;
  /** Throws to refuse the request before its body is read. */
  beforeBody?: (request: Request) => Promise<void>;
  /** Schema of the 200 response's JSON; for an operation that answers with a file, absent. */
  response?: TSchema;
  /** The file that is answered in place of JSON, and whether a request may ask for a part of it. */
  file?: { type: string; description: string; ranges: boolean };
  /** When it answers 204, without a body. */
  empty?: string;
  /** Headers of the request that it reads. */
  headers?: readonly RequestHeader[];
  /** Alternative responses by their types, and how a client chooses one. */
  streamed?: { forms: Readonly<Record<string, string>>; choice: string };
  /** Whether the response names a chat session in X-Session-ID. */
  namesChat?: boolean;
  /** Whether the response sets or clears the session's cookie. */
  setsCookie?: boolean;
  /** The errors of the route beyond those that every route has. */
  refuses?: readonly Refusal[];
}

export type Refusal = "condition" | "not_found" | "forbidden" | "conflict" | "model" | "carrier" | "start";

/** Whether a request may have an Idempotency-Key. */
export function takesKey(method: string, scope: Access): boolean {
  return method !== "GET" && method !== "HEAD" && isPublic(scope);
}

/** Whether it belongs to the public API, which takes a key or a session; the management API takes only a session. */
export function isPublic(scope: Access): boolean {
  return scope !== "session" && scope !== "anyone";
}
