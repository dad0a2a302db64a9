import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Idempotency } from "@parley/proto/parley/common/v1/common.ts";
import type { Logger } from "@parley/shared/log";
import { type CallOrigin, isTraceparent } from "@parley/shared/rpc/call";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import type { Static, TObject } from "@sinclair/typebox";
import type { Admission, Entered } from "./admission.ts";
import { hasScope, requireScope, type Scope } from "./auth/api-key.ts";
import { type Access, type Caller, type IdentifyContext, identify } from "./auth/identify.ts";
import { jsonAnswer } from "./http/answer/answers.ts";
import { BYTES_MAX, readJson, STRANGERS_WITHIN_MS } from "./http/body.ts";
import { type FormBody, type FormFile, formBytesMax, isForm, readForm } from "./http/form.ts";
import { idempotencyOf } from "./http/idempotency-key.ts";
import type { RequestLog } from "./http/log-request.ts";
import { countDecision, observed } from "./http/observe.ts";
import { readParams } from "./http/params.ts";
import { readQuery } from "./http/query.ts";
import { commonHeaders, requestIdOf } from "./http/request-id.ts";
import { validator } from "./http/validate.ts";
import type { EventStreams } from "./live/streams.ts";
import { takesKey } from "./openapi/operation.ts";
import { problemOf } from "./problem.ts";
import type { Decision, RateLimiter } from "./rate-limit/limiter.ts";
import { refuseOverRate } from "./rate-limit/refuse.ts";

/**
 * The gate that every request passes before its route (key or session, rate limit, scope, validation), and what every response
 * gets. Carriers' callbacks and visitors of websites pass routes/open-endpoint.ts instead.
 */
export interface GateContext extends IdentifyContext {
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "authenticateSession" | "claimIdempotencyKey">;
  /** The limiter of keys and sessions. */
  keyLimiter: RateLimiter;
  signInLimiter: RateLimiter;
  admission: Pick<Admission, "enter" | "answer">;
  /** Streams of events, which end when the gateway stops. */
  streams: EventStreams;
  /** Where clients reach the gateway; empty if each request says so itself. */
  publicUrl: string;
  /** Keeps an idle connection open, because a model may think for long, until the returned function is called. */
  holdOpen(request: Request): () => void;
  logRequest: RequestLog;
  log: Logger;
}

interface Rules<B extends TObject, Q extends TObject> {
  /** The operation's name in metrics and logs. */
  id: string;
  scope: Access;
  body?: B;
  /** Limit for the body; the general limit if missing. */
  bodyBytesMax?: number;
  /** Limit for the body's JSON values; the general limit if missing. */
  bodyValuesMax?: number;
  /** What may be sent in place of the body: a form with a file in its field `file`, and the schema of its other fields. */
  form?: { fields: TObject; fileBytesMax: number };
  /** Whether the request may come without a body. */
  isBodyOptional?: boolean;
  query?: Q;
  /** Whether the answer has a page or a transcript, and so up to megabytes. */
  isList?: boolean;
  /** Throws to refuse the request before its body is read. */
  beforeBody?: (request: Request) => Promise<void>;
}

type AnyRules = Rules<TObject, TObject>;

export interface Admitted<B, Q> {
  /** "" on routes without authentication. */
  ownerId: string;
  /** The id of the key or session; "" on routes without authentication. */
  callerId: string;
  /** Whether someone is signed in, rather than a program with a key. */
  isSession: boolean;
  /** Of a form, its fields beside the file. */
  body: B;
  /** Of a form. */
  file: FormFile | null;
  query: Q;
  params: Record<string, string>;
  request: Request;
  origin: CallOrigin;
  idempotency: Idempotency | undefined;
  /** Options for the call that writes: it reports a replay. */
  write: CallOptions;
  /** Headers of the response, to which the route may add. */
  headers: Headers;
  /** For a part of the request that needs a scope of its own. @throws ServiceError forbidden */
  requireScope(scope: Scope): void;
  /** Whether `requireScope` would accept the caller. */
  hasScope(scope: Scope): boolean;
  /** Looks at the caller's key or session again. @throws ServiceError as the gate does */
  check(): Promise<void>;
}

/** The part of Elysia's context that is used; naming it keeps Elysia from parsing the rest. */
interface RouteContext {
  request: Request;
  params: unknown;
}

/**
 * Turns a route's work into an Elysia handler. The work returns an object, which is sent as JSON with 200, a string that
 * is JSON already, or a Response of its own; whatever it throws becomes a problem response.
 */
export function gated<B extends TObject = TObject, Q extends TObject = TObject>(
  ctx: GateContext,
  rules: Rules<B, Q>,
  work: (admitted: Admitted<Static<B>, Static<Q>>) => Promise<object | string>,
): (route: RouteContext) => Promise<Response> {
  const receive = receiving(ctx, rules);
  const checkQuery = rules.query && validator(rules.query);
  const respond = async ({ request, params }: RouteContext): Promise<Response> => {
    const requestId = requestIdOf(request);
    // The response is an owner's data. Caches would give it to anyone: they check Authorization but do not know
    // X-API-Key.
    const headers = new Headers({ ...commonHeaders(requestId), "Cache-Control": "no-store" });
    const startedAt = performance.now();
    let caller: Caller | null = null;
    let answer: Response;
    let failure: unknown;
    let entered: Entered | null = null;
    try {
      caller = await identify(ctx, rules.scope, request);
      if (caller) entered = await enter(ctx, rules, request, caller, headers);
      const query = checkQuery ? checkQuery(readQuery(request.url, rules.query as TObject)) : {};
      await rules.beforeBody?.(request);
      const { value, file, bytes, length } = await receive(request, caller === null);
      entered?.received(length);
      const ownerId = caller?.ownerId ?? "";
      const origin = originOf(request, requestId, caller);
      const idempotency = takesKey(request.method, rules.scope) ? idempotencyOf(request, bytes) : undefined;
      // Each service keeps the answers of its own writes; this binds the key to one request across all services.
      if (idempotency) await ctx.accounts.claimIdempotencyKey({ ownerId, idempotency }, { origin });
      const scopes = caller?.scopes ?? [];
      const admitted: Admitted<Static<B>, Static<Q>> = {
        ownerId,
        callerId: caller?.id ?? "",
        isSession: caller?.isSession ?? false,
        body: value as Static<B>,
        file,
        query: query as Static<Q>,
        params: readParams(params as Record<string, string | null> | undefined),
        request,
        origin,
        write: { origin, onReplayed: () => headers.set("Idempotent-Replayed", "true") },
        idempotency,
        headers,
        requireScope: (scope) => requireScope(scopes, scope),
        hasScope: (scope) => hasScope(scopes, scope),
        check: async () => {
          const again = await identify(ctx, rules.scope, request);
          if (again) requireScope(again.scopes, rules.scope);
        },
      };
      const result = await work(admitted);
      const json = typeof result === "string" ? result : JSON.stringify(result);
      answer = result instanceof Response ? result : await ctx.admission.answer(json, ownerId, headers, request);
    } catch (error) {
      failure = error;
      const problem = problemOf(error, requestId);
      for (const [name, value] of Object.entries(problem.headers)) headers.set(name, value);
      answer = jsonAnswer(problem.status, problem.body, headers);
    } finally {
      entered?.release();
    }
    ctx.logRequest(rules.id, { request, requestId, caller, status: answer.status, startedAt, failure });
    return answer;
  };
  return ({ request, params }) => observed(rules.id, request, () => respond({ request, params }));
}

/** Takes a request from its caller's rate, and lets it in. @throws ServiceError rate_limited, forbidden without the route's scope */
async function enter(
  ctx: GateContext,
  rules: AnyRules,
  request: Request,
  { ownerId, id, scopes, rateLimitPerMinute }: Caller,
  headers: Headers,
): Promise<Entered> {
  const decision = await ctx.keyLimiter.take(`${ownerId}.${id}`, rateLimitPerMinute);
  tellRate(headers, decision);
  countDecision(decision);
  refuseOverRate(decision);
  requireScope(scopes, rules.scope);
  const isUpload = rules.form !== undefined && isForm(request);
  return ctx.admission.enter(ownerId, request, {
    bytesMax: longestBody(rules, request),
    isList: rules.isList,
    isUpload,
  });
}

/** What a request carries: its body, or in its place a form with a file. */
interface Received {
  value: object;
  file: FormFile | null;
  /** The body as sent, for the fingerprint of an idempotency key. */
  bytes: Uint8Array;
  length: number;
}

const NOTHING: Received = { value: {}, file: null, bytes: new Uint8Array(), length: 0 };

/** Reads and checks what requests to a route carry; nothing for a route that takes no body. */
function receiving(ctx: GateContext, rules: AnyRules): (request: Request, isStranger: boolean) => Promise<Received> {
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax, isBodyOptional: isOptional } = rules;
  const checkBody = rules.body && validator(rules.body);
  const checkFields = rules.form && validator(rules.form.fields);
  return async (request, isStranger) => {
    if (rules.form && checkFields && isForm(request)) {
      const form = await readUpload(ctx, request, rules.form.fileBytesMax);
      return { ...form, value: checkFields(form.value) };
    }
    if (!checkBody) return NOTHING;
    const withinMs = isStranger ? STRANGERS_WITHIN_MS : undefined;
    const { value, bytes } = await readJson(request, { bytesMax, valuesMax, withinMs, isOptional });
    return { value: checkBody(value), file: null, bytes, length: bytes.byteLength };
  };
}

/** A file may take longer than the connection may be idle. */
async function readUpload(ctx: GateContext, request: Request, fileBytesMax: number): Promise<FormBody> {
  const letIdle = ctx.holdOpen(request);
  try {
    return await readForm(request, fileBytesMax);
  } finally {
    letIdle();
  }
}

function longestBody({ body, bodyBytesMax = BYTES_MAX, form }: AnyRules, request: Request): number {
  if (form && isForm(request)) return formBytesMax(form.fileBytesMax);
  return body ? bodyBytesMax : 0;
}

function tellRate(headers: Headers, decision: Decision): void {
  headers.set("X-RateLimit-Limit", String(decision.limit));
  headers.set("X-RateLimit-Remaining", String(decision.remaining));
  headers.set("X-RateLimit-Reset", String(decision.resetAtSeconds));
}

function originOf(request: Request, requestId: string, caller: Caller | null): CallOrigin {
  const traceparent = request.headers.get("traceparent");
  return {
    requestId,
    ...(caller && { actor: { kind: caller.isSession ? "session" : "key", id: caller.id } }),
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
    get signal() {
      return request.signal;
    },
  };
}
