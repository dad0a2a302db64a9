import { randomBytes } from "node:crypto";
import type { HttpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { Clock } from "@parley/shared/clock";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import type { Egress } from "@parley/shared/egress/egress";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import { signed, signingKeyOf } from "@parley/shared/webhook-signature";
import { countAnswers, TOO_MANY_ANSWERS } from "../answer-shares.ts";
import { ANSWER_BYTES_MAX, takeAnswer } from "./answer.ts";
import { authorizationOf, credentialOf, secretsOf, tokenRequestOf } from "./authorization.ts";
import { FORM_BYTES_MAX, maskOf } from "./masks.ts";
import type { OAuthTokens } from "./oauth-tokens.ts";
import { type HttpRequest, requestOf } from "./request.ts";
import { type Received, send } from "./send.ts";
import { Refused } from "./values.ts";

export interface HttpTools {
  /** Guarded against private addresses, because the owner chooses the address. */
  ask: Egress["ask"];
  revealSecrets: RevealSecrets;
  tokens: OAuthTokens;
  answers: ByteShares;
  clock: Clock;
}

interface HttpCall {
  ownerId: string;
  tool: Tool;
  http: HttpTool;
  /** The same for each attempt of a call, also after a crash. */
  idempotencyKey: string;
  /** Null when a tool is only tried. */
  conversationId: string | null;
  /** What the model gave, valid for the tool's schemas. */
  args: Readonly<Record<string, unknown>>;
  /** By canonical key. */
  variables: Readonly<Record<string, unknown>>;
  /** Aborts a call that must end: its result is then of no use. */
  signal: AbortSignal;
  /** Told the number of requests so far, of which nobody else learns when the call is given up. */
  attempted?(attempts: number): void;
}

export interface HttpOutcome {
  forModel: string;
  isError: boolean;
  /** Of the answer; null without one. */
  status: number | null;
  attempts: number;
  /** Values for dynamic variables by canonical key. */
  assignments: Record<string, unknown>;
  /** Variables whose values are too long or cannot be stored. */
  dropped: string[];
  /** The request with secrets masked; null when none was made. */
  request: HttpRequest | null;
  /** The body with secrets masked; null without an answer. */
  answer: string | null;
}

/**
 * Calls an HTTP tool: builds its request, authorizes and signs it, sends it, and takes from the answer what the model and the
 * dynamic variables get. What goes wrong is told to the model.
 * @throws the signal's reason, and what `revealSecrets` throws
 */
export async function callHttpTool(tools: HttpTools, call: HttpCall): Promise<HttpOutcome> {
  const { tool, signal } = call;
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(), tool.timeoutMs);
  const ending = AbortSignal.any([signal, own.signal]);
  const full = () => own.abort(new Refused(`${TOO_MANY_ANSWERS}.`));
  const release = countAnswers(tools.answers, { ownerId: call.ownerId, signal: ending, full });
  const progress: Progress = { attempts: 0, request: null, hidden: new Set() };
  const tell = (forModel: string) => failed(forModel, progress);
  try {
    const received = await exchange(tools, call, ending, progress);
    if (received instanceof Error) return tell(`The request failed: ${received.message}.`);
    return outcomeOf(received, call.http, progress);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refused) return tell(error.message);
    if (own.signal.aborted) return tell(`The server did not answer within ${tool.timeoutMs / 1_000} s.`);
    throw error;
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** What a call has done so far. */
interface Progress {
  attempts: number;
  /** The last request. */
  request: HttpRequest | null;
  /** What must not be seen of requests and answers. */
  hidden: Set<string>;
}

/** @returns the answer, or why there is none @throws Refused, the signal's reason */
async function exchange(
  tools: HttpTools,
  call: HttpCall,
  signal: AbortSignal,
  progress: Progress,
): Promise<Received | Error> {
  const { ownerId, tool, http, args, variables } = call;
  const revealed = await secretsOf(tools.revealSecrets, ownerId, http);
  const secrets = new Map([...revealed].map(([name, { value }]) => [name, value]));
  for (const value of secrets.values()) progress.hidden.add(value);
  const plain = requestOf(http, { args, variables, secrets });
  const tokenRequest = tokenRequestOf(ownerId, http.auth, revealed);
  const deadlineAt = performance.now() + tool.timeoutMs;

  async function sendAuthorized(): Promise<Received | Error> {
    const token = tokenRequest && (await tools.tokens.get(tokenRequest));
    const authorization = token === null ? authorizationOf(http.auth, secrets) : { authorization: `Bearer ${token}` };
    for (const value of Object.values(authorization)) progress.hidden.add(credentialOf(value));
    const headers = { ...plain.headers, ...authorization };
    return send(plain, {
      ask: tools.ask,
      signal,
      deadlineAt,
      retries: http.retries ?? 0,
      bytesMax: ANSWER_BYTES_MAX + longest(progress.hidden),
      began: () => {
        progress.attempts++;
        call.attempted?.(progress.attempts);
      },
      finish: (unsigned) => {
        progress.request = signedRequest(tools.clock, call, { ...unsigned, headers });
        return progress.request;
      },
    });
  }

  const received = await sendAuthorized();
  if (!tokenRequest || received instanceof Error || received.status !== 401) return received;
  tools.tokens.drop(tokenRequest);
  return sendAuthorized();
}

/** With the headers that every request of a tool has (docs/tools.md). A request without a body signs an empty one. */
function signedRequest(
  clock: Clock,
  { tool, idempotencyKey, conversationId }: HttpCall,
  request: HttpRequest,
): HttpRequest {
  const now = clock.now();
  const valid = tool.signingSecrets.filter(({ validUntil }) => validUntil === undefined || validUntil > now);
  const keys = valid.map(({ secret }) => signingKeyOf(secret));
  const conversation = conversationId === null ? {} : { "x-parley-conversation-id": conversationId };
  const headers = {
    accept: "application/json, text/*;q=0.9, */*;q=0.1",
    "user-agent": "Parley",
    ...request.headers,
    "idempotency-key": idempotencyKey,
    traceparent: activeTraceparent() ?? newTraceparent(),
    ...conversation,
    ...signed(keys, idempotencyKey, request.body, now),
  };
  return { ...request, headers };
}

/** A trace that nobody records here, which the owner's systems may continue (https://www.w3.org/TR/trace-context). */
function newTraceparent(): string {
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
}

function outcomeOf(received: Received, http: HttpTool, progress: Progress): HttpOutcome {
  const { text, isCut } = maskedBody(received, progress.hidden);
  const taken = takeAnswer({ status: received.status, text, isCut }, http);
  return { ...taken, status: received.status, attempts: progress.attempts, request: shown(progress), answer: text };
}

/** Of a body that was cut, the end is left out after masking, because it may be a part of a secret. */
function maskedBody(received: Received, hidden: ReadonlySet<string>): Pick<Received, "text" | "isCut"> {
  const text = maskOf(hidden)(received.text);
  const bytes = Buffer.from(text);
  if (!received.isCut && bytes.length <= ANSWER_BYTES_MAX) return { text, isCut: false };
  const kept = Math.min(ANSWER_BYTES_MAX, bytes.length - (received.isCut ? longest(hidden) : 0));
  return { text: new TextDecoder().decode(bytes.subarray(0, kept), { stream: true }), isCut: true };
}

/** The last request, with secrets masked. */
function shown({ request, hidden }: Progress): HttpRequest | null {
  if (!request) return null;
  const mask = maskOf(hidden);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, mask(value)] as const);
  return { ...request, url: mask(request.url), headers: Object.fromEntries(headers), body: mask(request.body) };
}

function failed(forModel: string, progress: Progress): HttpOutcome {
  const told = maskOf(progress.hidden)(forModel);
  const { attempts } = progress;
  const nothing = { status: null, assignments: {}, dropped: [], answer: null };
  return { ...nothing, forModel: told, isError: true, attempts, request: shown(progress) };
}

/** Of the secrets, in bytes of the longest form that `masks.ts` knows. */
function longest(secrets: ReadonlySet<string>): number {
  return Math.max(0, ...[...secrets].map((secret) => FORM_BYTES_MAX * secret.length));
}
