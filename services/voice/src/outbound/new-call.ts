import type { CallPolicy } from "@parley/proto/parley/account/v1/account.ts";
import { Voicemail } from "@parley/proto/parley/voice/v1/call.ts";
import type { CreateCallRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import { E164 } from "@parley/shared/phone/e164";
import { askedVersion, CALL_SECONDS_MAX } from "../call/port.ts";
import { countQueued, insertOutboundCall, type NewOutboundCall } from "../store/outbound-calls.ts";
import { countryFault } from "./call-policy.ts";
import { callRequest } from "./call-request.ts";
import type { OutboundContext } from "./context.ts";
import { denialOf } from "./denied-numbers.ts";
import { wakeLane } from "./wake-lane.ts";

const MAX_DURATION_SECONDS = { min: 10, max: CALL_SECONDS_MAX, default: 3_600 };
const DAY_MS = 24 * 60 * 60_000;
const RING_SECONDS = { min: 5, max: 120, default: 45 };

type Asked = Omit<CreateCallRequest, "idempotency">;

/**
 * The call that a request asks for, checked with every service that it will need.
 * @throws ServiceError invalid, naming the field; condition, if the agent cannot hold a call; not_found or forbidden
 */
export async function newCall(ctx: OutboundContext, asked: Asked): Promise<NewOutboundCall> {
  const fault = numberFault(ctx, asked.toMobileNumber);
  if (fault !== null) throw invalid("to_mobile_number", `to_mobile_number ${fault}`);
  const from = asked.fromMobileNumber || (await firstNumber(ctx, asked));
  const carrier = await carrierOf(ctx, asked.ownerId, from);
  const call: NewOutboundCall = {
    ownerId: asked.ownerId,
    callId: newId("call"),
    conversationId: newUuid(),
    agentId: asked.agentId,
    agentVersion: asked.agentVersion ?? null,
    ...carrier,
    toMobileNumber: asked.toMobileNumber,
    fromMobileNumber: from,
    dynamicVariables: asked.dynamicVariables ?? {},
    metadata: asked.metadata ?? {},
    isTestCall: asked.isTestCall,
    maxDurationSeconds: within("max_duration_seconds", asked.maxDurationSeconds, MAX_DURATION_SECONDS),
    ringSeconds: within("ring_seconds", asked.ringSeconds, RING_SECONDS),
    voicemail: voicemailOf(asked.voicemail),
    batchId: null,
    batchNumber: null,
  };
  const checked = await ctx.checkAgent({ ...callRequest(call), latestVersion: asked.latestVersion });
  return { ...call, agentVersion: askedVersion(asked, checked) };
}

/** Milliseconds until the next UTC day. */
export function untilTomorrow(now: Date): number {
  return DAY_MS - (now.getTime() % DAY_MS);
}

/** Puts calls of one carrier account into the queue. @throws ServiceError unavailable when it is full */
export async function queueCalls(tx: Sql, ctx: OutboundContext, calls: readonly NewOutboundCall[]): Promise<void> {
  const [first] = calls;
  if (!first) return;
  const now = ctx.clock.now();
  if ((await countQueued(tx, first.ownerId)) + calls.length > ctx.limits.queuedMax)
    throw queueIsFull(ctx.limits.queuedMax);
  for (const call of calls) await insertOutboundCall(tx, call, now);
  await wakeLane(tx, first, now);
}

function queueIsFull(queuedMax: number): ServiceError {
  return new ServiceError(
    "unavailable",
    `This account has ${queuedMax} calls in the queue, which is its limit: try again later`,
    {
      retryAfterMs: 60_000,
    },
  );
}

/** The fault of a number that an owner with this policy calls, as the end of a sentence that begins with its field; null if it has none. */
export function numberFault(
  { deniedPrefixes }: Pick<OutboundContext, "deniedPrefixes">,
  number: string,
  policy?: CallPolicy,
): string | null {
  if (!E164.test(number)) return "must be a phone number in E.164 form, such as +14155550123";
  const denial = denialOf(number, deniedPrefixes) ?? (policy ? countryFault(number, policy) : null);
  return denial === null ? null : `is refused: ${denial}`;
}

async function firstNumber(ctx: OutboundContext, { ownerId, agentId }: Asked): Promise<string> {
  const [first] = await ctx.numbersOf(ownerId, agentId);
  if (first === undefined)
    throw new ServiceError(
      "condition",
      "Agent has no phone number: set agent_mobile_number, or give from_mobile_number",
    );
  return first;
}

async function carrierOf(ctx: OutboundContext, ownerId: string, from: string) {
  if (!E164.test(from))
    throw invalid(
      "from_mobile_number",
      "from_mobile_number must be a phone number in E.164 form, such as +14155550123",
    );
  const carrier = await ctx.carrierOfNumber(ownerId, from);
  if (carrier) return carrier;
  throw invalid(
    "from_mobile_number",
    `from_mobile_number ${from} is not one of your numbers with a connected carrier: import it from its carrier first`,
  );
}

function within(path: string, given: number | undefined, { min, max, ...rule }: typeof RING_SECONDS): number {
  if (given === undefined) return rule.default;
  if (given < min || given > max) throw invalid(path, `${path} must be from ${min} to ${max}`);
  return given;
}

function voicemailOf(given: Voicemail): NewOutboundCall["voicemail"] {
  if (given === Voicemail.VOICEMAIL_HANG_UP) return "hang_up";
  return given === Voicemail.VOICEMAIL_LEAVE_MESSAGE ? "leave_message" : null;
}
