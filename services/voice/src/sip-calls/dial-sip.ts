import type { AllowList } from "@parley/shared/egress/allow-list";
import { EgressError } from "@parley/shared/egress/error";
import { ServiceError } from "@parley/shared/errors";
import { type Connect, NotConnected } from "../call/port.ts";
import type { Credentials } from "../transport/sip/digest.ts";
import type { Target } from "../transport/sip/sockets.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";
import { trunkServer } from "../trunks/trunk-server.ts";

interface SipCall {
  ownerId: string;
  /** The user and the host of the URI that is called. The host is a name or an address, with a port if it is not the SIP default. */
  user: string;
  host: string;
  protocol: Target["protocol"];
  /** The user of From. */
  from: string;
  credentials?: Credentials | undefined;
  ringSeconds: number;
  ringing?(): void;
}

export type DialSip = (call: SipCall, ...connect: Parameters<Connect>) => ReturnType<Connect>;

/** The SIP status of a call that was not accepted (RFC 3261, section 21). */
const BUSY = new Set([486, 600]);
const NO_ANSWER = new Set([408, 480, 487, 603]);

/**
 * Dials by SIP, at hosts that users give.
 * @param userAgent null if this installation has no SIP
 */
export function dialSip(userAgent: Pick<UserAgent, "call"> | null, allow: AllowList): DialSip {
  return async (call, listener, signal, reachedBy) => {
    if (!userAgent)
      throw new NotConnected("failed", "SIP calls need PARLEY_SIP_LISTEN, which this installation has not set");
    const server = await trunkServer(call.host, call.protocol, allow).catch((error) => {
      if (error instanceof EgressError && error.kind === "forbidden") throw new NotConnected("failed", error.message);
      throw new NotConnected("unreached", error instanceof EgressError ? error.message : `${call.host} was not found`);
    });
    let hasRung = false;
    const placed = userAgent.call(
      {
        uri: `sip:${call.user}@${call.host}${PARAMS[call.protocol]}`,
        server: { ...server, ownerId: call.ownerId },
        from: `<sip:${call.from}@${call.host}>`,
        credentials: call.credentials,
        isSecure: call.protocol === "TLS",
        signal: AbortSignal.any([signal, AbortSignal.timeout(call.ringSeconds * 1_000)]),
        ringing: () => {
          hasRung = true;
          call.ringing?.();
        },
        inviting: (invite) => reachedBy({ type: "sip_invite", invite }),
      },
      listener,
    );
    const answer = await placed.catch((error) => {
      // Nobody was called yet, and another port may become free.
      if (error instanceof ServiceError && error.kind === "unavailable")
        throw new NotConnected("unreached", error.detail);
      throw error;
    });
    if ("answered" in answer) {
      const farEnd = answer.answered.farEnd?.();
      if (farEnd) void reachedBy(farEnd);
      return answer.answered;
    }
    const { refused, reason, isUnreached } = answer;
    if (isUnreached) throw new NotConnected("unreached", `${call.host} does not answer: SIP ${refused}: ${reason}`);
    if (refused >= 300 && refused < 400)
      throw new NotConnected(
        "failed",
        `SIP ${refused}: ${reason}: the trunk redirects the call, which Parley does not follow; have the trunk place it`,
      );
    if (BUSY.has(refused)) throw new NotConnected("busy", `SIP ${refused}: ${reason}`);
    // A server that stops responding does not count as a phone that nobody answers.
    const isUnanswered = NO_ANSWER.has(refused) && (hasRung || refused !== 408);
    throw new NotConnected(isUnanswered ? "no_answer" : "failed", `SIP ${refused}: ${reason}`);
  };
}

const PARAMS = { UDP: "", TCP: ";transport=tcp", TLS: ";transport=tls" } as const;
