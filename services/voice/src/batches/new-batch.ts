import { setImmediate } from "node:timers/promises";
import type { CallPolicy } from "@parley/proto/parley/account/v1/account.ts";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { CallBatchSettings } from "@parley/proto/parley/voice/v1/call_batch.ts";
import type { CreateCallBatchRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { firstViolations } from "@parley/shared/domain/violations";
import { invalid, ServiceError, type Violation } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { checkName } from "@parley/shared/text/name";
import type { OutboundContext } from "../outbound/context.ts";
import { newCall, numberFault } from "../outbound/new-call.ts";
import {
  type BatchEntry,
  type BatchSettings,
  type CallBatchRow,
  countUnendedBatches,
  deleteOldestEnded,
  insertBatch,
} from "../store/call-batches.ts";
import { wakeBatch } from "./run-batches.ts";

const CALLS_MAX = 10_000;
const BATCHES_MAX = 100;
/** Ended batches are kept for 30 days, but only up to these bounds: they take some 1.5 MB for each 10,000 numbers. */
const KEPT = { numbersMax: 1_000_000, batchesMax: 10_000, limit: 3 };
const DAY_MINUTES = 24 * 60;
const RETRIES_MAX = 10;
const AFTER_MINUTES_MAX = 7 * DAY_MINUTES;
const REPEATED = {
  [Outcome.OUTCOME_BUSY]: "BUSY",
  [Outcome.OUTCOME_NO_ANSWER]: "NO_ANSWER",
  [Outcome.OUTCOME_ERROR]: "ERROR",
} as const;

interface NewBatch {
  batch: Omit<CallBatchRow, "status" | "endedAt" | "total">;
  entries: BatchEntry[];
}

/** @throws ServiceError invalid, naming each wrong number; and the error that would refuse its first call */
export async function newBatch(
  ctx: OutboundContext,
  { ownerId, settings, calls }: CreateCallBatchRequest,
): Promise<NewBatch> {
  const [first] = calls;
  if (settings?.name !== undefined) checkName("name", settings.name);
  const numbers = calls.map(({ toMobileNumber }) => toMobileNumber);
  await refuseWrongNumbers(ctx, numbers);
  if (!settings || !first) throw invalid("settings", "settings is required");
  // A fault of the first call is a fault of all of them.
  const call = await newCall(ctx, {
    ownerId,
    agentId: settings.agentId,
    agentVersion: settings.agentVersion,
    latestVersion: settings.latestVersion,
    toMobileNumber: first.toMobileNumber,
    fromMobileNumber: settings.fromMobileNumber,
    dynamicVariables: first.dynamicVariables,
    metadata: settings.metadata,
    isTestCall: settings.isTestCall,
    maxDurationSeconds: settings.maxDurationSeconds,
    ringSeconds: settings.ringSeconds,
    voicemail: settings.voicemail,
  });
  // Only now, because the policy is the owner's whose agent calls.
  const policy = await ctx.policies?.of(ownerId);
  if (policy) await refuseWrongNumbers(ctx, numbers, policy);
  const { agentId, agentVersion, fromMobileNumber, metadata, isTestCall, maxDurationSeconds, ringSeconds, voicemail } =
    call;
  return {
    batch: {
      ownerId,
      batchId: newId("bat"),
      carrierId: call.carrierId,
      provider: call.provider,
      createdAt: ctx.clock.now(),
      settings: {
        name: settings.name ?? null,
        ...{
          agentId,
          agentVersion,
          fromMobileNumber,
          metadata,
          isTestCall,
          maxDurationSeconds,
          ringSeconds,
          voicemail,
        },
        startAt: settings.startAt?.toISOString() ?? null,
        window: windowOf(settings),
        retries: retriesOf(settings),
      },
    },
    entries: calls.map(({ toMobileNumber, dynamicVariables }, at) => ({
      number: at + 1,
      toMobileNumber,
      dynamicVariables: dynamicVariables ?? {},
    })),
  };
}

/**
 * Makes room for it by deleting the oldest batches that have ended.
 * @throws ServiceError condition when the owner has too many batches that have not ended
 */
export async function storeBatch(tx: Sql, { batch, entries }: NewBatch): Promise<void> {
  if ((await countUnendedBatches(tx, batch.ownerId)) >= BATCHES_MAX)
    throw new ServiceError(
      "condition",
      `This account has ${BATCHES_MAX} batches that have not ended: cancel one first`,
    );
  await insertBatch(tx, batch, entries);
  await deleteOldestEnded(tx, batch.ownerId, KEPT);
  await wakeBatch(tx, batch, batch.createdAt);
}

/** One takes up to 0.3 ms, and calls send audio every 20 ms. */
const CHECKED_AT_ONCE = 10;

/**
 * Checks numbers, a few in a turn of the event loop.
 * @throws ServiceError invalid, naming those that agents may not call, as the numbers of `calls`
 */
export async function refuseWrongNumbers(
  ctx: Pick<OutboundContext, "deniedPrefixes">,
  numbers: readonly string[],
  policy?: CallPolicy,
): Promise<void> {
  if (numbers.length === 0 || numbers.length > CALLS_MAX)
    throw invalid("calls", `calls must have 1 to ${CALLS_MAX} items`);
  const faults: Violation[] = [];
  for (const [at, number] of numbers.entries()) {
    if (at % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await setImmediate();
    const fault = numberFault(ctx, number, policy);
    const path = `calls.${at}.to_mobile_number`;
    if (fault !== null) faults.push({ path, message: `${path} ${fault}` });
  }
  const [first] = faults;
  if (first)
    throw new ServiceError("invalid", first.message, { violations: firstViolations(faults, "calls", "numbers") });
}

function windowOf({ window }: CallBatchSettings): BatchSettings["window"] {
  if (!window) return null;
  const { fromMinute, toMinute, timezone } = window;
  const isMinute = (minute: number) => minute >= 0 && minute < DAY_MINUTES;
  if (!isMinute(fromMinute) || !isMinute(toMinute) || fromMinute === toMinute)
    throw invalid("window", "window must have two different times of day as from_time and to_time");
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw invalid("window.timezone", "window.timezone must be an IANA time zone, such as Europe/Berlin");
  }
  return { fromMinute, toMinute, timezone };
}

function retriesOf({ retries }: CallBatchSettings): BatchSettings["retries"] {
  if (!retries) return { max: 0, afterMinutes: 0, on: [] };
  const { max, afterMinutes } = retries;
  if (max < 0 || max > RETRIES_MAX) throw invalid("retries.max", `retries.max must be from 0 to ${RETRIES_MAX}`);
  if (afterMinutes < 1 || afterMinutes > AFTER_MINUTES_MAX)
    throw invalid("retries.after_minutes", `retries.after_minutes must be from 1 to ${AFTER_MINUTES_MAX}`);
  const on = retries.on.map((outcome) => REPEATED[outcome as keyof typeof REPEATED]);
  if (on.includes(undefined as never)) throw invalid("retries.on", "retries.on may contain busy, no_answer and error");
  return { max, afterMinutes, on };
}
