import { PAGE_BYTES_MAX } from "@parley/shared/db/bounded-page";
import { ServiceError } from "@parley/shared/errors";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import { TIMEOUT_MS } from "@parley/shared/rpc/client/sender";
import { type ByteShares, byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import { enterLoop } from "@parley/shared/shares/loop-entry";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import { bodyAsRead, jsonAnswer, SHORT_CHARACTERS } from "./http/answer/answers.ts";
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
/** Bodies of an owner's requests under way: as text, values and a message to a service, each takes several times as much. */
const BODIES = { what: "large requests", totalBytes: 64 * MIB, ownerBytes: 16 * MIB, waitingMax: 16 };
/** Files that are uploaded, which may take minutes: apart, so that they keep no other request waiting. */
const UPLOADS = { what: "uploads", totalBytes: 64 * MIB, ownerBytes: 21 * MIB, waitingMax: 16 };
/** Answers that their clients have not received yet. Those that wait take memory, too. */
const ANSWERS = { what: "large answers", totalBytes: 64 * MIB, ownerBytes: 16 * MIB, waitingMax: 16 };
/**
 * An owner's lists, from before their service is asked until their client has the answer, each as a whole page until its length is
 * known. Otherwise a service sends an owner's pages faster than the connection that all owners share takes them. They wait as long as
 * they would for their turn in the service.
 */
const LISTS = {
  ...ANSWERS,
  what: "lists",
  totalBytes: Number.POSITIVE_INFINITY,
  waitingMax: 1_024,
  waitMs: TIMEOUT_MS,
};
/** An owner's requests under way: as many as the turns that it may have. */
const REQUESTS = { what: "requests", totalBytes: Number.POSITIVE_INFINITY, ownerBytes: 1_024, waitingMax: 1_024 };
/** How long an owner's requests wait for their turn before they are refused. */
const WAIT_MS = 2_000;
const TOO_MANY_BODIES = "Too many request bodies are on their way. Try again.";
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

/** What a request of an owner holds until it is answered. */
export interface Entered {
  /** Gives back what a body of unknown length does not need. @param bytes all of the body's */
  received(bytes: number): void;
  release(): void;
}

/** The one door: what the gateway has under way, in all and of each owner, beside the rate of its keys. */
export interface Admission {
  /**
   * Wraps a handler, and decides by a request's headers alone whether anything is done for it. A refusal is ready at once, because the runtime receives the body of a request for as long as its response is
   * awaited: then the connection closes with the body unread.
   */
  admitting(fetch: Fetch): Fetch;
  /**
   * Lets an owner's request in, with its body, whose room as a stranger's it gives back.
   * @param route the longest body that it takes, 0 for none, whether it answers with a page, and whether the body is a form with a file
   * @throws ServiceError rate_limited when the owner has too much under way for two seconds, or five before a list; cancelled when the
   *   client leaves
   */
  enter(
    ownerId: string,
    request: Request,
    route: { bytesMax?: number; isList?: boolean | undefined; isUpload?: boolean },
  ): Promise<Entered>;
  /**
   * An answer of JSON, which counts until the client has it.
   * @throws ServiceError like `enter`
   */
  answer(json: string, ownerId: string, headers: Headers, request: Request): Promise<Response>;
}

export function createAdmission(senderOf: (request: Request) => Sender): Admission {
  const rooms = { small: byteShares(STRANGERS), large: byteShares(STRANGERS), known: byteShares(KNOWN) };
  const [requests, lists, bodies, uploads, answers] = [REQUESTS, LISTS, BODIES, UPLOADS, ANSWERS].map((share) =>
    byteShares({ waitMs: WAIT_MS, ...share }),
  ) as [ByteShares, ByteShares, ByteShares, ByteShares, ByteShares];
  observeHeldBytes("bodies", bodies.heldBytes);
  observeHeldBytes("uploads", uploads.heldBytes);
  observeHeldBytes("answers", answers.heldBytes);
  observeHeldBytes("unread bodies", () => Object.values(rooms).reduce((sum, room) => sum + room.heldBytes(), 0));
  const keyless = slidingWindows({ keysMax: ADDRESSES_MAX });
  const holds = new WeakMap<Request, Hold>();
  const pages = new WeakMap<Request, Hold>();

  /** @throws ServiceError rate_limited */
  function admit(request: Request): Hold | null {
    const { known, isKeyless, address } = senderOf(request);
    if (isKeyless)
      refuseOverRate(
        decisionOf(KEYLESS_PER_MINUTE, keyless(address, KEYLESS_PER_MINUTE)),
        "Too many requests without an API key from this address. Wait a minute.",
      );
    const bytes = bodyBytes(request, RECEIVED_BYTES_MAX);
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
    async enter(ownerId, request, { bytesMax = 0, isList = false, isUpload = false }) {
      const { signal } = request;
      const held: Hold[] = [];
      const hold = async (shares: ByteShares, bytes: number) =>
        shares.tryHold(ownerId, bytes) ?? (await shares.hold(ownerId, bytes, signal));
      const release = () => {
        for (const each of held) each.release();
        pages.get(request)?.release();
      };
      try {
        held.push(await hold(requests, 1));
        const begun = enterLoop(ownerId);
        if (begun) await begun;
        holds.get(request)?.release();
        if (isList) pages.set(request, await hold(lists, PAGE_BYTES_MAX));
        const length = bodyBytes(request, bytesMax);
        if (length <= SMALL_BYTES) return { received: () => {}, release };
        const body = await hold(isUpload ? uploads : bodies, length);
        held.push(body);
        return { received: body.shrink, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    async answer(json, ownerId, headers, request) {
      headers.set("Content-Type", "application/json; charset=utf-8");
      if (json.length <= SHORT_CHARACTERS) return new Response(json, { headers });
      const { signal } = request;
      const page = pages.get(request);
      page?.shrink(json.length);
      const hold = await answers.hold(ownerId, json.length, signal);
      // The end of the request releases the page no longer; the end of its reading does.
      pages.delete(request);
      const over = () => {
        hold.release();
        page?.release();
      };
      return new Response(bodyAsRead(Buffer.from(json), signal, over), { headers });
    },
  };
}

/** How long the body may be: nothing of a GET's is received, and a body of unknown length counts as the longest. */
function bodyBytes({ method, headers }: Request, bytesMax: number): number {
  if (method === "GET" || method === "HEAD") return 0;
  if (headers.has("transfer-encoding")) return bytesMax;
  return Math.min(Number(headers.get("content-length") ?? 0), bytesMax);
}
