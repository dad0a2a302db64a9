import { ServiceError } from "@parley/shared/errors";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import { byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import { jsonAnswer } from "./gate.ts";
import { commonHeaders, requestIdOf } from "./http/request-id.ts";
import { problemOf } from "./problem.ts";
import { decisionOf } from "./rate-limit/decision.ts";
import { refuseOverRate } from "./rate-limit/refuse.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

const MIB = 1024 * 1024;
/** The most of a body that the runtime receives before anyone reads it. */
const RECEIVED_BYTES_MAX = MIB;
/** Bodies up to this length have room of their own, so that large ones do not keep anyone from signing in. */
const SMALL_BYTES = 16 * 1024;
/** Room for bodies before their sender is known: of an address, and of all together. What does not fit at once is refused. */
const STRANGERS = { what: "request bodies", totalBytes: 64 * MIB, ownerBytes: 8 * MIB, waitingMax: 0 };
/** The same for keys and sessions that were right before, from which strangers take no room. */
const KNOWN = { ...STRANGERS, totalBytes: 128 * MIB, ownerBytes: 32 * MIB };
const TOO_MANY_BODIES = "Too many request bodies are on their way, try again";
/** Requests of one address without a key or session, in any minute: as many as a carrier may call back. */
const KEYLESS_PER_MINUTE = 6_000;
const ADDRESSES_MAX = 50_000;

const refused = counter("parley.admission.refused", "Requests refused at the door, by their headers alone");

export interface Sender {
  /** The key or session that a request names and that was right before; null for none. */
  known: string | null;
  /** Whether it names a key or session at all. */
  isKeyless: boolean;
  /** The client's address. */
  address: string;
}

/** Decides by a request's headers alone whether anything is done for it. */
export interface Admission {
  /**
   * Wraps a handler. A refusal is ready at once, because the runtime receives the body of a request for as long as its response is
   * awaited: then the connection closes with the body unread.
   */
  admitting(fetch: Fetch): Fetch;
  /** Gives back the room of a request whose body counts against its owner's from now on. */
  identified(request: Request): void;
}

export function createAdmission(senderOf: (request: Request) => Sender): Admission {
  const rooms = { small: byteShares(STRANGERS), large: byteShares(STRANGERS), known: byteShares(KNOWN) };
  observeHeldBytes("unread bodies", () => Object.values(rooms).reduce((sum, room) => sum + room.heldBytes(), 0));
  const keyless = slidingWindows({ keysMax: ADDRESSES_MAX });
  const holds = new WeakMap<Request, Hold>();

  /** @throws ServiceError rate_limited */
  function admit(request: Request): Hold | null {
    const { known, isKeyless, address } = senderOf(request);
    if (isKeyless)
      refuseOverRate(
        decisionOf(KEYLESS_PER_MINUTE, keyless(address, KEYLESS_PER_MINUTE)),
        "Too many requests without an API key from this address, wait a minute",
      );
    const bytes = bodyBytes(request);
    if (bytes === 0) return null;
    const room = known !== null ? rooms.known : bytes <= SMALL_BYTES ? rooms.small : rooms.large;
    const hold = room.tryHold(known ?? address, bytes);
    if (!hold) throw new ServiceError("rate_limited", TOO_MANY_BODIES, { retryAfterMs: 1_000 });
    return hold;
  }

  return {
    admitting: (fetch) => (request) => {
      let hold: Hold | null;
      try {
        hold = admit(request);
      } catch (error) {
        refused().add(1);
        const requestId = requestIdOf(request);
        const { status, body, headers } = problemOf(error, requestId);
        return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId) }));
      }
      if (!hold) return fetch(request);
      holds.set(request, hold);
      return Promise.resolve(fetch(request)).finally(hold.release);
    },
    identified: (request) => holds.get(request)?.release(),
  };
}

/** What the runtime may receive of the body: nothing of a GET's. */
function bodyBytes({ method, headers }: Request): number {
  if (method === "GET" || method === "HEAD") return 0;
  if (headers.has("transfer-encoding")) return RECEIVED_BYTES_MAX;
  return Math.min(Number(headers.get("content-length") ?? 0), RECEIVED_BYTES_MAX);
}
