import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { CallingBack } from "@parley/shared/carriers/urls";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { isFull } from "@parley/shared/domain/full";
import { isStartFailure } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { E164 } from "@parley/shared/phone/e164";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { passingTime } from "@parley/shared/shares/passing-time";
import { complete } from "../../call/complete-call.ts";
import { beginConversation } from "../../call/prepare-call.ts";
import type { CallHolder } from "../../call/start-call.ts";
import type { Conversations } from "../../call/transcript.ts";
import { callerNumber } from "../../caller-number.ts";
import { countIncomingCalls, type IncomingCall, insertIncomingCall, unreserve } from "../../store/incoming-calls.ts";
import { isHeld } from "../../store/outbound-calls.ts";
import type { ExpectMediaStream } from "../../transport/media-stream/media-streams.ts";
import { busyDocument, HANG_UP, sayDocument, streamDocument } from "../documents.ts";
import { requestOf } from "./hold-incoming.ts";

/** Incoming calls to owners' numbers, from carriers. */
export interface IncomingCalls {
  /** Instructions for the carrier: a document. */
  answer(call: IncomingRequest): Promise<string>;
  /** The carrier reports that a call has ended. */
  ended(call: Pick<IncomingRequest, "ownerId" | "carrierId" | "carrierCallId">): Promise<void>;
  queues: Record<string, Queue>;
}

interface IncomingRequest {
  ownerId: string;
  carrierId: string;
  provider: CallingBack;
  /** The carrier's own id. */
  carrierCallId: string;
  /** E.164. */
  to: string;
  /** The caller as the carrier reports it. */
  from: string;
}

export interface IncomingOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "findCarrierOfNumber">;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "findCallee">;
  checkAgent: CallHolder["check"];
  conversations: Pick<Conversations, "startConversation" | "completeConversation">;
  expectMedia: ExpectMediaStream;
  /** The most calls of an owner at a time. */
  callsMax: number;
  /** What callers of a number without an agent hear. */
  unknownNumberSentence: string;
}

/** How long a carrier may take from its question to the stream, and how long it may repeat the question. */
const STREAM_WITHIN_MS = 60_000;
const MINUTE_MS = 60_000;
/** Calls that may be reported in a minute, for each that an owner may have at a time: far more than can be held, or than callers make. */
const PER_MINUTE = 100;

export function incomingCalls(options: IncomingOptions): IncomingCalls {
  const { db, clock, log } = options;

  const calleeOf = async ({ ownerId, carrierId, to }: IncomingRequest): Promise<string | null> => {
    if (!E164.test(to)) return null;
    // This carrier has no calls for a removed number, or for a number of another of the owner's carriers.
    const { carrier } = await options.accounts.findCarrierOfNumber({ ownerId, mobileNumber: to });
    if (carrier?.carrierId !== carrierId) return null;
    const { agent } = await options.agents.findCallee({ called: to, ofOwnerId: ownerId });
    return agent?.agentId ?? null;
  };

  return {
    answer: async (asked) => {
      const { ownerId, provider } = asked;
      const agentId = await calleeOf(asked);
      if (agentId === null) {
        log.info(
          { owner_id: ownerId, carrier_id: asked.carrierId, called: asked.to },
          "a call to a number without an agent",
        );
        return sayDocument(provider, options.unknownNumberSentence);
      }
      const now = clock.now();
      const lately = await countIncomingCalls(db, ownerId, new Date(now.getTime() - MINUTE_MS));
      // Each is stored for a day, so that it gets one stream.
      if (lately >= PER_MINUTE * options.callsMax) return busyDocument(provider);
      const expiresAt = new Date(now.getTime() + STREAM_WITHIN_MS);
      const reserved = { ...newCall(asked, agentId, now), reservedUntil: expiresAt };
      // Before the call is answered, which a document that streams it does.
      const call = await insertIncomingCall(db, reserved, options.callsMax);
      if (!call) {
        log.info({ owner_id: ownerId, called: asked.to }, "a call was refused: all places of the owner are taken");
        return busyDocument(provider);
      }
      // A call gets only one stream: a carrier repeats its question at once or not at all.
      if (now.getTime() - call.createdAt.getTime() > STREAM_WITHIN_MS) return HANG_UP;
      try {
        const { startWebhookMs } = await options.checkAgent(requestOf(call));
        // While the caller hears ringing: the document answers the call.
        if (startWebhookMs > 0) {
          await enqueueJob(db, unheldJob(call, expiresAt));
          await beginConversation({ ...options, clock: passingTime }, requestOf(call), call, startWebhookMs);
        }
      } catch (err) {
        await unreserve(db, call);
        if (!(err instanceof ServiceError)) throw err;
        log.info({ err, owner_id: ownerId, agent_id: agentId, called: asked.to }, "a call was refused");
        return err.kind === "rate_limited" || isFull(err) || isStartFailure(err)
          ? busyDocument(provider)
          : sayDocument(provider, options.unknownNumberSentence);
      }
      const { url } = await options.expectMedia({ ownerId, callId: call.callId, dialect: provider, expiresAt });
      return streamDocument(provider, url);
    },
    ended: (call) => unreserve(db, call),
    queues: {
      [UNHELD]: {
        concurrency: 8,
        run: async ({ ownerId, payload }) => {
          const key = { ownerId, conversationId: (payload as { conversationId: string }).conversationId };
          if (!(await isHeld(db, key))) await complete(options.conversations, key, LEFT_RINGING);
        },
      },
    },
  };
}

const UNHELD = "complete-unheld-calls";
const LEFT_RINGING = {
  outcome: "CANCELLED" as const,
  durationSeconds: 0,
  notes: "The caller hung up before the call was answered",
};

/** Ends a conversation that began while its call was ringing, if no process holds the call by then. */
function unheldJob({ ownerId, conversationId }: IncomingCall, dueAt: Date) {
  return { ownerId, jobId: `unheld:${conversationId}`, queue: UNHELD, payload: { conversationId }, dueAt };
}

function newCall(asked: IncomingRequest, agentId: string, createdAt: Date): IncomingCall {
  return {
    ownerId: asked.ownerId,
    callId: newId("call"),
    carrierId: asked.carrierId,
    provider: asked.provider === "twilio" ? "TWILIO" : "PLIVO",
    carrierCallId: asked.carrierCallId,
    conversationId: newUuid(),
    agentId,
    toMobileNumber: asked.to,
    fromMobileNumber: callerNumber(asked.from),
    createdAt,
  };
}
