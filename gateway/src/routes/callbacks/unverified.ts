import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import type { GateContext } from "../../gate.ts";
import { readRaw, refuseUnreadable } from "../../http/body.ts";
import { ADDRESS, fewFirst } from "../../rate-limit/guesses.ts";
import type { OpenRequest } from "../open-endpoint.ts";

const WITHIN_MS = 10_000;
const RETRY = { retryAfterMs: 1_000 };

/** Limits for a provider's callbacks; lengths are in bytes. */
interface UnverifiedSettings {
  /** As errors call them, such as "callbacks". */
  what: string;
  /** The name of the metric, and of the count of wrong callbacks. */
  name: string;
  /** The longest body. */
  bytesMax: number;
  /** What a body reserves at first. A longer one reserves more as it arrives, so that a slow sender holds no more than it has sent. */
  firstBytes: number;
  /** The most bytes of one address at a time, so that no sender fills the provider's share. */
  addressBytes: number;
  totalBytes: number;
  /** The most requests of one address that wait until their id is looked up. */
  unknownMax: number;
}

/** What a provider calls back about. */
interface Unverified {
  /** The name of the connection or call, unique among what the provider calls back about. */
  id: string;
  /**
   * Whether there is one, by a call that costs little. Asked before the body is read, unless a callback with that id was right
   * before. @throws ServiceError not_found
   */
  check(origin: CallOrigin): Promise<unknown>;
  /** Verifies the signature and handles the body. */
  pass(body: Buffer): Promise<unknown>;
}

/**
 * Bodies whose signature is not verified yet, in the gateway's memory. For an id that does not exist, none is read: whoever has no key
 * could otherwise have the gateway hold bodies, copy them and send them on.
 * @returns reads a request's body and gives it to `pass`, whose `forbidden` and `not_found` count as wrong
 * @throws HttpError as readRaw does; ServiceError rate_limited when too many are in progress, or the address was wrong too often
 */
export function unverifiedBodies(gate: GateContext, settings: UnverifiedSettings) {
  const { what, name, bytesMax, firstBytes, addressBytes, totalBytes, unknownMax } = settings;
  const shares = byteShares({
    what,
    whose: ADDRESS,
    totalBytes,
    ownerBytes: addressBytes,
    waitingMax: 100,
    waitMs: 5_000,
  });
  const few = fewFirst(unknownMax);
  observeHeldBytes(name, () => shares.heldBytes());
  return async ({ request, requestId, address }: OpenRequest, { id, check, pass }: Unverified): Promise<void> => {
    const guessing = { what, name, id, address, request };
    refuseUnreadable(request, bytesMax);
    const hold = await shares.hold(address, firstBytes, request.signal);
    const keep = (bytes: number) => {
      if (bytes <= hold.bytes || hold.grow(bytes - hold.bytes)) return;
      throw new ServiceError("rate_limited", `Too many ${what} in progress. Try again.`, RETRY);
    };
    try {
      if (!gate.guesses.wasRight(sentOf(guessing))) {
        const known = () => check({ requestId, signal: request.signal });
        // This shows nothing about the signature, so it does not make the id right.
        await unlessWrong(gate, guessing, () =>
          gate.guesses.lookFirst(guessOf(guessing), few, () => attempt(known), isWrong),
        );
      }
      const body = Buffer.from(await readRaw(request, { bytesMax, withinMs: WITHIN_MS, keep }));
      await limitGuesses(gate, guessing, () => pass(body));
    } finally {
      hold.release();
    }
  };
}

interface Guessing extends Pick<OpenRequest, "request" | "address"> {
  /** As errors call them, such as "callbacks". */
  what: string;
  /** The name of the count. */
  name: string;
  /** The connection or call that the callback is about. */
  id: string;
}

/**
 * Limits guesses of ids, tokens and signatures, but not the provider's own requests: a right one is accepted however many were
 * wrong.
 * @throws whatever the work throws, or ServiceError rate_limited for a wrong one if there were too many from its address
 */
export function limitGuesses<R>(gate: WithGuesses, guessing: Guessing, work: () => Promise<R>): Promise<R> {
  return unlessWrong(gate, guessing, () =>
    gate.guesses.look({ ...guessOf(guessing), sent: sentOf(guessing) }, () => attempt(work), isWrong),
  );
}

type WithGuesses = Pick<GateContext, "guesses">;
type Found<R> = { result: R } | { error: ServiceError };

async function unlessWrong<R>({ guesses }: WithGuesses, guessing: Guessing, look: () => Promise<Found<R>>): Promise<R> {
  const found = await look();
  if (!("error" in found)) return found.result;
  await guesses.count(guessOf(guessing).of, `Too many wrong ${guessing.what} from this address. Wait a minute.`);
  throw found.error;
}

function guessOf({ name, address, request }: Guessing) {
  return { of: `wrong-${name}:${address}`, gone: () => request.signal };
}

function sentOf({ name, id }: Guessing): string {
  return `${name}:${id}`;
}

function attempt<R>(work: () => Promise<R>): Promise<Found<R>> {
  return work().then((result) => ({ result }), wrongGuess);
}

function isWrong(found: Found<unknown>): boolean {
  return "error" in found;
}

/** @throws any other error */
function wrongGuess(error: unknown): { error: ServiceError } {
  if (error instanceof ServiceError && (error.kind === "forbidden" || error.kind === "not_found")) return { error };
  throw error;
}
