import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { isPublicAddress, parseAddress } from "@parley/shared/egress/address";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import { networkOf } from "@parley/shared/rate-limit/network-of";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import { type CallRequest, type Channel, NotConnected, type StartCall } from "../call/port.ts";
import type { Invite } from "../transport/sip/answering.ts";
import { admitTrunkCall, type TrunkContext } from "./admit-trunk-call.ts";
import type { Announce } from "./announce.ts";
import { callerNumber, numberOf } from "./numbers.ts";

export interface InviteContext extends TrunkContext {
  agents: Pick<ServiceClient<typeof AgentServiceService>, "findCallee">;
  /** Bounds look-ups of trunks by network: each asks the account service and name servers. */
  admitFewAtOnce: FewAtOnce;
  startCall: StartCall;
  /** Announces to callers of an imported number that no agent answers. */
  announce: Announce;
  log: Logger;
}

/** Of one network, of all, and waiting of one. */
export const ADMISSIONS = { what: "calls", whose: "This network", atOnce: 4, totalAtOnce: 32, waitingMax: 50 };

/** The SIP answer for the error that refuses a call. */
const REFUSALS: Partial<Record<ErrorKind, readonly [status: number, reason: string]>> = {
  rate_limited: [486, "Busy Here"],
  not_found: [404, "Not Found"],
  forbidden: [404, "Not Found"],
  conflict: [480, "Temporarily Unavailable"],
  condition: [480, "Temporarily Unavailable"],
  unavailable: [503, "Service Unavailable"],
  deadline: [503, "Service Unavailable"],
};

/**
 * Answers a call. From this machine, `sip:<agent id>@…` and `sip:<number>@…` need no trunk and no credentials; from elsewhere, a number
 * is called over its owner's trunk only.
 */
export async function answerInvite(ctx: InviteContext, invite: Invite): Promise<void> {
  try {
    const { source, cancelled } = invite;
    const callee = isLoopback(source.address)
      ? await dialled(ctx, invite)
      : await ctx.admitFewAtOnce(networkOf(source.address), cancelled, () => admitTrunkCall(ctx, invite));
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
    // The caller has given up while the call waited, and was answered.
    if (invite.cancelled.aborted && !(error instanceof ServiceError)) return;
    const kind = error instanceof ServiceError ? error.kind : "internal";
    const level = REFUSALS[kind] ? "info" : "error";
    ctx.log[level]({ err: error, called: invite.called.user }, "a call was refused");
    invite.refuse(...(REFUSALS[kind] ?? [500, "Server Internal Error"]));
  }
}

/** @returns why the agent cannot hold calls; null if it holds this one */
async function take(ctx: InviteContext, request: CallRequest, invite: Invite): Promise<ServiceError | null> {
  try {
    await ctx.startCall(request, async (listener) => {
      if (invite.cancelled.aborted)
        throw new NotConnected("cancelled", "The caller hung up before the call was answered");
      return invite.accept(listener).catch((error) => {
        const how = invite.cancelled.aborted ? "cancelled" : "failed";
        throw new NotConnected(how, error instanceof ServiceError ? error.detail : "The call could not be answered");
      });
    });
    return null;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "condition") return error;
    throw error;
  }
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

function isLoopback(address: string): boolean {
  return !isPublicAddress(address) && parseAddress(address)?.range() === "loopback";
}
