import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Idempotency } from "@parley/proto/parley/common/v1/common.ts";
import type { Logger } from "@parley/shared/log";
import { type CallOrigin, isTraceparent } from "@parley/shared/rpc/call";
import type { CallOptions, ServiceClient } from "@parley/shared/rpc/client";
import type { Static, TObject } from "@sinclair/typebox";
import { requireScope } from "./auth/authenticate.ts";
import { type Access, type Caller, type IdentifyContext, identify } from "./auth/identify.ts";
import type { Answers, Reservation } from "./http/answers.ts";
import { readJson } from "./http/body.ts";
import { idempotencyOf } from "./http/idempotency-key.ts";
import { countDecision, observed } from "./http/observe.ts";
import { readParams } from "./http/params.ts";
import { pathOf } from "./http/path.ts";
import { readQuery } from "./http/query.ts";
import { commonHeaders, requestIdOf } from "./http/request-id.ts";
import { validator } from "./http/validate.ts";
import { takesKey } from "./openapi/operation.ts";
import { problemOf } from "./problem.ts";
import type { Decision, RateLimiter } from "./rate-limit/limiter.ts";
import { refuseOverRate } from "./rate-limit/refuse.ts";

/** What every request passes before its route: key or session, rate, scope, form; and what every answer carries. */
export interface GateContext extends IdentifyContext {
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "authenticateSession" | "claimIdempotencyKey">;
  /** Of keys and sessions. */
  keyLimiter: RateLimiter;
  signInLimiter: RateLimiter;
  answers: Answers;
  /** Keeps a connection on which nothing moves, as a model may think for long, until what it returns is called. */
  holdOpen(request: Request): () => void;
  log: Logger;
}

interface Rules<B extends TObject, Q extends TObject> {
  /** What the route is called where it is counted. */
  id: string;
  scope: Access;
  /** Bytes that its answer may have, where that is much: room for them is kept before it is asked for. */
  answerBytesMax?: number;
  body?: B;
  /** What its body may have, else what bodies may have generally. */
  bodyBytesMax?: number;
  query?: Q;
  /** Throws what refuses the request before any of its body is read. */
  beforeBody?: (request: Request) => Promise<void>;
}

export interface Admitted<B, Q> {
  /** "" where nobody is asked for. */
  ownerId: string;
  /** The key or the session, likewise. */
  callerId: string;
  body: B;
  query: Q;
  params: Record<string, string>;
  request: Request;
  origin: CallOrigin;
  idempotency: Idempotency | undefined;
  /** For the call that does a write: it tells of a replay. */
  write: CallOptions;
  /** Headers of the answer, to be added to. */
  headers: Headers;
}

/** What Elysia gives a handler, as far as it is used; naming it keeps Elysia from parsing what is not. */
interface RouteContext {
  request: Request;
  params: unknown;
}

/**
 * Turns a route's work into an Elysia handler. The work returns what is answered as JSON with 200, or a Response of its own;
 * whatever it throws becomes a problem.
 */
export function gated<B extends TObject = TObject, Q extends TObject = TObject>(
  ctx: GateContext,
  rules: Rules<B, Q>,
  work: (admitted: Admitted<Static<B>, Static<Q>>) => Promise<object>,
): (route: RouteContext) => Promise<Response> {
  const checkBody = rules.body && validator(rules.body);
  const checkQuery = rules.query && validator(rules.query);
  const respond = async ({ request, params }: RouteContext): Promise<Response> => {
    const requestId = requestIdOf(request);
    // An owner's data, which caches would hand to anybody: they look at Authorization and know nothing of X-API-Key.
    const headers = new Headers({ ...commonHeaders(requestId), "Cache-Control": "no-store" });
    const startedAt = performance.now();
    let caller: Caller | null = null;
    let answer: Response;
    let failure: unknown;
    let reservation: Reservation | null = null;
    try {
      caller = await identify(ctx, rules.scope, request);
      if (caller) {
        const decision = await ctx.keyLimiter.take(`${caller.ownerId}.${caller.id}`, caller.rateLimitPerMinute);
        tellRate(headers, decision);
        countDecision(decision);
        refuseOverRate(decision);
        requireScope(caller.scopes, rules.scope);
      }
      const query = checkQuery ? checkQuery(readQuery(request.url, rules.query as TObject)) : {};
      await rules.beforeBody?.(request);
      const sent = checkBody ? await readJson(request, rules.bodyBytesMax) : null;
      const body = (sent && checkBody ? checkBody(sent.value) : {}) as Static<B>;
      const ownerId = caller?.ownerId ?? "";
      if (rules.answerBytesMax !== undefined) {
        reservation = await ctx.answers.reserve(ownerId, rules.answerBytesMax, request.signal);
      }
      const origin = originOf(request, requestId, reservation);
      const isKeyed = takesKey(request.method, rules.scope);
      const idempotency = isKeyed ? idempotencyOf(request, sent?.bytes ?? NOTHING) : undefined;
      // The services keep the answers, each those of its own writes; that a key is one request's holds across them.
      if (idempotency) await ctx.accounts.claimIdempotencyKey({ ownerId, idempotency }, { origin });
      const result = await work({
        ownerId,
        callerId: caller?.id ?? "",
        body,
        query: query as Static<Q>,
        params: readParams(params as Record<string, string | null> | undefined),
        request,
        origin,
        write: { origin, onReplayed: () => headers.set("Idempotent-Replayed", "true") },
        idempotency,
        headers,
      });
      const to = { ownerId, headers, gone: () => request.signal, reservation };
      answer = result instanceof Response ? result : await ctx.answers.json(result, to);
    } catch (error) {
      failure = error;
      reservation?.release();
      const problem = problemOf(error, requestId);
      for (const [name, value] of Object.entries(problem.headers)) headers.set(name, value);
      answer = jsonAnswer(problem.status, problem.body, headers);
    }
    logRequest(ctx.log, { request, requestId, caller, status: answer.status, startedAt, failure });
    return answer;
  };
  return ({ request, params }) => observed(rules.id, request, () => respond({ request, params }));
}

const NOTHING = new Uint8Array();

function tellRate(headers: Headers, decision: Decision): void {
  headers.set("X-RateLimit-Limit", String(decision.limit));
  headers.set("X-RateLimit-Remaining", String(decision.remaining));
  headers.set("X-RateLimit-Reset", String(decision.resetAtSeconds));
}

function originOf(request: Request, requestId: string, reservation: Reservation | null): CallOrigin {
  const traceparent = request.headers.get("traceparent");
  return {
    requestId,
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
    ...(reservation && { onAnswer: reservation.received }),
    get signal() {
      return request.signal;
    },
  };
}

/** @param headers of the answer, which get the content type too */
export function jsonAnswer(status: number, body: object, headers: Headers): Response {
  headers.set("Content-Type", "application/json; charset=utf-8");
  return new Response(JSON.stringify(body), { status, headers });
}

interface Served {
  request: Request;
  requestId: string;
  caller: Caller | null;
  status: number;
  startedAt: number;
  failure: unknown;
}

/** One line a request; a body, a key or a cookie is never in it. */
function logRequest(log: Logger, { request, requestId, caller, status, startedAt, failure }: Served): void {
  const level = status >= 500 ? "warn" : "debug";
  // To gather a line costs more than to write it, and most are not written.
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      request_id: requestId,
      method: request.method,
      path: pathOf(request),
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      ...(caller && { owner_id: caller.ownerId, caller_id: caller.id }),
      ...(level === "warn" && { err: failure }),
    },
    "request",
  );
}
