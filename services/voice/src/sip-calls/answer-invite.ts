import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { isPublicAddress, parseAddress } from "@parley/shared/egress/address";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import { networkOf } from "@parley/shared/rate-limit/network-of";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import { type CallRequest, type Channel, NotConnected, type StartCall } from "../call/port.ts";
import type { Leg, LegListener } from "../transport/leg.ts";
import type { Invite } from "../transport/sip/answering.ts";
import { admitTrunkCall, type TrunkContext } from "./admit-trunk-call.ts";
import type { Announce } from "./announce.ts";
import type { Confirm } from "./confirmations.ts";
import type { LimitDigests } from "./digest-limits.ts";
import { laterListener } from "./later-listener.ts";
import { callerNumber, numberOf } from "./numbers.ts";

export interface InviteContext extends TrunkContext {
  agents: Pick<ServiceClient<typeof AgentServiceService>, "findCallee">;
  /** Bounds look-ups of trunks by network: each asks the account service and name servers. */
  admitFewAtOnce: FewAtOnce;
  /** Whether programs of this machine may call every agent without credentials. */
  isLoopbackOpen: boolean;
  startCall: StartCall;
  /** @throws ServiceError as `startCall` does if the call could not be held, such as rate_limited if the owner has no place for it */
  checkCall(request: CallRequest): Promise<void>;
  limitDigests: LimitDigests;
  confirm: Confirm;
  /** Announces to callers of an imported number that no agent answers. */
  announce: Announce;
  log: Logger;
}

/** Of one network, of all, and waiting of one. */
export const ADMISSIONS = { what: "calls", whose: "This network", atOnce: 4, totalAtOnce: 32, waitingMax: 50 };

const UNAVAILABLE = [503, "Service Unavailable"] as const;
/** The SIP answer for the error that refuses a call. */
const REFUSALS: Partial<Record<ErrorKind, readonly [status: number, reason: string]>> = {
  rate_limited: [486, "Busy Here"],
  not_found: [404, "Not Found"],
  forbidden: [404, "Not Found"],
  conflict: [480, "Temporarily Unavailable"],
  condition: [480, "Temporarily Unavailable"],
  unavailable: UNAVAILABLE,
  deadline: UNAVAILABLE,
  // Of the agent's start webhook, without which no call may begin.
  upstream_failed: UNAVAILABLE,
};

/**
 * Answers a call. A number is called over its owner's trunk only. From this machine, if that is open, `sip:<agent id>@…` and
 * `sip:<number>@…` need no trunk and no credentials.
 */
export async function answerInvite(ctx: InviteContext, invite: Invite): Promise<void> {
  try {
    const { source, cancelled } = invite;
    const callee = isFreeToCall(ctx, invite)
      ? await dialled(ctx, invite)
      : await ctx.admitFewAtOnce(networkOf(source.address), cancelled, () =>
          ctx.limitDigests(invite, () => admitTrunkCall(ctx, invite)),
        );
    if (!callee) return;
    invite.ring();
    const { agent } = await ctx.agents.findCallee(callee);
    const refusal = agent ? await take(ctx, { ...agent, channel: channelOf(callee.called, invite) }, invite) : null;
    if (agent && !refusal) return;
    const { ofOwnerId, called } = callee;
    ctx.log.info({ err: refusal, owner_id: ofOwnerId, called }, "a call to a number without an agent");
    if (ofOwnerId !== undefined && (await ctx.announce(ofOwnerId, invite))) return;
    if (refusal) throw refusal;
    invite.refuse(404, "Not Found");
  } catch (error) {
    // The caller has given up, and was answered.
    if (error instanceof NotConnected || (invite.cancelled.aborted && !(error instanceof ServiceError))) return;
    const kind = error instanceof ServiceError ? error.kind : "internal";
    const level = REFUSALS[kind] ? "info" : "error";
    ctx.log[level]({ err: error, called: invite.called.user }, "a call was refused");
    invite.refuse(...(REFUSALS[kind] ?? [500, "Server Internal Error"]));
  }
}

/** @returns why the agent cannot hold calls; null if it holds this one */
async function take(ctx: InviteContext, request: CallRequest, invite: Invite): Promise<ServiceError | null> {
  try {
    await (invite.isThere() || isFreeToCall(ctx, invite) ? hold : holdConfirmed)(ctx, request, invite);
    return null;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "condition") return error;
    throw error;
  }
}

/** Answers when the agent is ready. */
async function hold(ctx: InviteContext, request: CallRequest, invite: Invite): Promise<void> {
  await ctx.startCall(request, async (listener) => {
    if (invite.cancelled.aborted)
      throw new NotConnected("cancelled", "The caller hung up before the call was answered");
    return accepted(invite, listener).catch((error) => {
      if (error instanceof NotConnected) throw error;
      // The conversation ends with the reason, and the trunk may put the call through elsewhere.
      invite.refuse(...UNAVAILABLE);
      throw new NotConnected("failed", error instanceof ServiceError ? error.detail : "The call could not be answered");
    });
  });
}

/**
 * Answers first: a forged packet starts no agent and takes no place, because nobody confirms the answer that its victim gets. If the
 * owner's last place is taken in the meantime, the caller is hung up.
 */
async function holdConfirmed(ctx: InviteContext, request: CallRequest, invite: Invite): Promise<void> {
  await ctx.checkCall(request);
  const { listener, connect } = laterListener();
  const leg = await ctx.confirm(request.ownerId, (givenUp) => accepted(invite, listener, givenUp));
  try {
    await ctx.startCall({ ...request, farEnd: leg.farEnd?.() }, async (to) => {
      connect(to);
      return leg;
    });
  } catch (err) {
    ctx.log.info({ err, owner_id: request.ownerId }, "a call was hung up, because its agent could not begin");
    await leg.hangUp();
  }
}

/** @throws NotConnected if the caller gives up, or never confirms the call; ServiceError unavailable if there is no room for its audio */
async function accepted(invite: Invite, listener: LegListener, givenUp?: AbortSignal): Promise<Leg> {
  return invite.accept(listener, givenUp).catch((error) => {
    if (error instanceof ServiceError && error.kind === "condition") throw new NotConnected("cancelled", error.detail);
    throw error;
  });
}

interface Callee {
  /** E.164, or an agent's id. */
  called: string;
  /** The owner who has imported the number from a trunk; undefined for an agent's id, and for a number that nobody has imported. */
  ofOwnerId: string | undefined;
}

/** A proxy on this machine that we registered with calls the name of the registration, with the number in To. */
async function dialled({ accounts }: TrunkContext, { called, to }: Invite): Promise<Callee> {
  const number = isId("agt", called.user) ? null : (numberOf(called) ?? numberOf(to));
  if (number === null) return { called: called.user, ofOwnerId: undefined };
  const { carrier } = await accounts.findTrunk({ mobileNumber: number });
  return { called: number, ofOwnerId: carrier?.ownerId };
}

/** A call to an agent's id has no number, so it is like one from a browser. */
function channelOf(called: string, { identities }: Invite): Channel {
  if (!called.startsWith("+")) return { type: "WEB" };
  return {
    type: "TELEPHONY",
    callingType: "INBOUND",
    toMobileNumber: called,
    fromMobileNumber: callerNumber(identities, called) ?? undefined,
  };
}

function isFreeToCall({ isLoopbackOpen }: InviteContext, { source: { address } }: Invite): boolean {
  return isLoopbackOpen && !isPublicAddress(address) && parseAddress(address)?.range() === "loopback";
}
