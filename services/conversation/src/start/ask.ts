import type { AgentRuntime, StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import { EgressError } from "@parley/shared/egress/error";
import { counter, durations } from "@parley/shared/telemetry/instruments";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import { signed, signingKeyOf } from "@parley/shared/webhook-signature";
import type { StartOutcome } from "../store/start.ts";
import { secretsOf } from "../tools/http/authorization.ts";
import type { HttpTools } from "../tools/http/call.ts";
import { maskOf } from "../tools/http/masks.ts";
import { readText } from "../tools/http/read-text.ts";
import { type HttpRequest, headersOf } from "../tools/http/request.ts";
import { Refused } from "../tools/http/values.ts";
import { readStartAnswer, type StartAnswer, WrongAnswer } from "./answer.ts";
import type { Circumstances } from "./system-variables.ts";

interface StartQuestion {
  ownerId: string;
  agent: Pick<AgentRuntime, "agentId">;
  webhook: StartWebhook;
  of: Circumstances;
  metadata: Readonly<Record<string, unknown>>;
  /** With system variables, which headers may use. */
  variables: Readonly<Record<string, unknown>>;
  /** The client's own. */
  dynamicVariables: Readonly<Record<string, unknown>>;
  /** The same for one question. */
  webhookId: string;
}

export interface AskedStart {
  outcome: StartOutcome;
  /** Null if it is not used. */
  answer: StartAnswer | null;
  /** With secrets masked; null when nothing was asked. */
  request: HttpRequest | null;
  /** The body with secrets masked; null without a response. */
  text: string | null;
}

const ANSWER_BYTES_MAX = 64 * 1024;

const asked = counter("parley.start_webhooks", "Questions to start webhooks, by outcome");
const took = durations("parley.start_webhook.duration", "Duration of questions to start webhooks");

/** Asks a start webhook, for no longer than its limit. Never throws. */
export async function askStartWebhook(
  { ask, revealSecrets, clock }: Pick<HttpTools, "ask" | "revealSecrets" | "clock">,
  question: StartQuestion,
): Promise<AskedStart> {
  const { ownerId, webhook } = question;
  const startedAt = performance.now();
  const late = new AbortController();
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.abort();
    reject(new WrongAnswer(`The server did not answer within ${webhook.timeoutMs / 1_000} s`));
  }, webhook.timeoutMs);
  const hidden = new Set<string>();
  let request: HttpRequest | null = null;
  let status: number | null = null;
  let text: string | null = null;

  async function exchange(): Promise<StartAnswer> {
    const { secret, headers, url } = webhook;
    if (secret === undefined) throw new WrongAnswer("The secret cannot be read: set start_webhook again");
    const revealed = await secretsOf(revealSecrets, ownerId, { headers, auth: undefined });
    const secrets = new Map([...revealed].map(([name, { value }]) => [name, value]));
    for (const value of secrets.values()) hidden.add(value);
    const own = headersOf(headers, { args: {}, variables: question.variables, secrets });
    for (const { name, value } of headers) if (value?.$case === "text") hideText(hidden, own[name.toLowerCase()]);
    const body = JSON.stringify(bodyOf(question));
    request = {
      method: "POST",
      url,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "user-agent": "Parley",
        ...own,
        ...traceOf(activeTraceparent()),
        "x-parley-conversation-id": question.of.conversationId,
        ...signed([signingKeyOf(secret)], question.webhookId, body, clock.now()),
      },
      body,
    };
    const content = new TextEncoder().encode(body);
    const answer = await ask(url, { method: "POST", headers: request.headers, body: content, signal: late.signal });
    status = answer.status;
    const read = await readText(answer, ANSWER_BYTES_MAX);
    text = read.text;
    if (status < 200 || status > 299) throw new WrongAnswer(`The server answered with HTTP status ${status}`);
    if (read.isCut) throw new WrongAnswer("The answer is longer than 64 KiB");
    return readStartAnswer(read.text);
  }

  const done = exchange();
  let answer: StartAnswer | null = null;
  let error: string | null = null;
  try {
    answer = await Promise.race([done, isLate]);
  } catch (failure) {
    error = reasonOf(failure);
  } finally {
    clearTimeout(timer);
    done.catch(() => {});
    isLate.catch(() => {});
  }
  const durationMs = Math.round(performance.now() - startedAt);
  const outcome = answer === null ? "failed" : answer.say === null ? "answered" : "rejected";
  asked().add(1, { outcome });
  took().record(durationMs / 1_000, { outcome });
  const mask = maskOf(hidden);
  return {
    outcome: { status, durationMs, error: error && mask(error) },
    answer,
    request: request && shown(request, mask),
    text: text === null ? null : mask(text),
  };
}

/** What is told, by its names in the API (docs/live.md#start-webhook). */
function bodyOf({ agent, of, metadata, dynamicVariables }: StartQuestion): object {
  return {
    agent_id: agent.agentId,
    conversation_id: of.conversationId,
    channel: of.channel,
    direction: of.direction,
    caller: of.caller || null,
    called: of.called || null,
    metadata,
    dynamic_variables: dynamicVariables,
  };
}

function reasonOf(failure: unknown): string {
  if (failure instanceof WrongAnswer || failure instanceof EgressError) return failure.message;
  if (failure instanceof Refused) return failure.message.replace(/\.$/, "");
  return "The server could not be asked";
}

/** A short value, such as a version, is no secret, and masking it would hide other texts. */
function hideText(hidden: Set<string>, value: string | undefined): void {
  if (value !== undefined && value.length >= 8) hidden.add(value);
}

function traceOf(traceparent: string | undefined): Record<string, string> {
  return traceparent === undefined ? {} : { traceparent };
}

function shown(request: HttpRequest, mask: (text: string) => string): HttpRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, mask(value)] as const);
  return { ...request, headers: Object.fromEntries(headers), body: mask(request.body) };
}
