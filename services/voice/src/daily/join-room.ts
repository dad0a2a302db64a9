import { setTimeout as sleep } from "node:timers/promises";
import { NotConnected } from "../call/port.ts";
import type { DailySession } from "../store/daily-sessions.ts";
import { storeAgentJoined } from "../store/daily-sessions.ts";
import { hostPort, readUri } from "../transport/sip/messages/address.ts";
import type { Target } from "../transport/sip/sockets.ts";
import type { DailyContext } from "./context.ts";
import { sessionCall } from "./session.ts";

/** A room's SIP endpoint is ready some seconds after the first person has joined. */
const READY_WITHIN_MS = 30_000;
const AGAIN_MS = 1_000;
const RING_SECONDS = 20;

/**
 * Brings the agent into the room; this process holds the call.
 * @throws ServiceError as StartCall does
 */
export async function joinRoom(ctx: DailyContext, session: DailySession): Promise<void> {
  const { clock, db, dialSip } = ctx;
  const endpoint = endpointOf(session.sipUri ?? "");
  const until = clock.now().getTime() + READY_WITHIN_MS;
  const secondsLeft = Math.ceil((session.expiresAt.getTime() - clock.now().getTime()) / 1_000);
  const request = { ...sessionCall(session), maxDurationSeconds: Math.max(1, secondsLeft) };
  await ctx.startCall(request, async (listener, signal, reachedBy) => {
    if (!endpoint) throw new NotConnected("failed", "Daily's SIP address cannot be called");
    for (;;) {
      try {
        const leg = await dialSip(
          { ...endpoint, ownerId: session.ownerId, from: "parley", ringSeconds: RING_SECONDS },
          listener,
          signal,
          reachedBy,
        );
        await storeAgentJoined(db, session, clock.now()).catch(async (error) => {
          // Nobody else could end it.
          await leg.hangUp();
          throw error;
        });
        return leg;
      } catch (error) {
        const isLate = clock.now().getTime() >= until;
        if (!(error instanceof NotConnected) || signal.aborted || isLate) throw failed(error);
        await sleep(AGAIN_MS, undefined, { signal });
      }
    }
  });
}

/** Daily's error for a room that cannot be called does not describe one that nobody answers. */
function failed(error: unknown): unknown {
  return error instanceof NotConnected ? new NotConnected("failed", `Daily's room: ${error.note}`) : error;
}

const PROTOCOLS: Readonly<Record<string, Target["protocol"]>> = { udp: "UDP", tcp: "TCP", tls: "TLS" };

/** Null for an invalid address, or one that would mean another in our request. */
function endpointOf(sipUri: string): { user: string; host: string; protocol: Target["protocol"] } | null {
  const uri = readUri(sipUri);
  if (!uri?.host || !/^[\w.+-]+$/.test(uri.user)) return null;
  const transport = uri.params.get("transport")?.toLowerCase() ?? (uri.scheme === "sips" ? "tls" : "udp");
  const protocol = PROTOCOLS[transport];
  return protocol ? { user: uri.user, host: hostPort(uri.host, uri.port), protocol } : null;
}
