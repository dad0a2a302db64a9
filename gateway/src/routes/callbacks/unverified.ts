import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import type { GateContext } from "../../gate.ts";
import { readRaw } from "../../http/body.ts";
import type { OpenRequest } from "../open-endpoint.ts";

const WITHIN_MS = 10_000;
const RETRY = { retryAfterMs: 1_000 };

/** Limits for a provider's callbacks; lengths are in bytes. */
export interface UnverifiedSettings {
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
}

/**
 * Bodies whose signature is not verified yet, in the gateway's memory.
 * @returns reads a request's body and gives it to `pass`, whose `forbidden` and `not_found` count as wrong
 * @throws HttpError as readRaw does; ServiceError rate_limited when too many are in progress, or the address was wrong too often
 */
export function unverifiedBodies(gate: GateContext, settings: UnverifiedSettings) {
  const { what, name, bytesMax, firstBytes, addressBytes, totalBytes } = settings;
  const shares = byteShares({ what, totalBytes, ownerBytes: addressBytes, waitingMax: 100, waitMs: 5_000 });
  observeHeldBytes(name, () => shares.heldBytes());
  return async ({ request, address, params }: OpenRequest, pass: (body: Buffer) => Promise<unknown>): Promise<void> => {
    const hold = await shares.hold(address, firstBytes, request.signal);
    const keep = (bytes: number) => {
      if (bytes <= hold.bytes || hold.grow(bytes - hold.bytes)) return;
      throw new ServiceError("rate_limited", `Too many ${what} in progress, try again`, RETRY);
    };
    try {
      const body = Buffer.from(await readRaw(request, { bytesMax, withinMs: WITHIN_MS, keep }));
      await limitGuesses(gate, { what, name, id: Object.values(params).join(), address, request }, () => pass(body));
    } finally {
      hold.release();
    }
  };
}

export interface Guessing extends Pick<OpenRequest, "request" | "address"> {
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
export async function limitGuesses<R>(
  { guesses }: Pick<GateContext, "guesses">,
  { what, name, id, address, request }: Guessing,
  work: () => Promise<R>,
): Promise<R> {
  const of = `wrong-${name}:${address}`;
  const find = () => work().then((result) => ({ result }), wrongGuess);
  const guess = { of, sent: `${name}:${id}`, gone: () => request.signal };
  const found = await guesses.look(guess, find, (each) => "error" in each);
  if (!("error" in found)) return found.result;
  await guesses.count(of, `Too many wrong ${what} from this address, wait a minute`);
  throw found.error;
}

/** @throws any other error */
function wrongGuess(error: unknown): { error: ServiceError } {
  if (error instanceof ServiceError && (error.kind === "forbidden" || error.kind === "not_found")) return { error };
  throw error;
}
