import type { Clock } from "../clock.ts";
import type { Database, Sql } from "../db/database.ts";
import { type ErrorKind, ServiceError } from "../errors.ts";
import { keysExpiredAt, refuseOtherRequest, takeKey } from "./keys.ts";
import {
  findOutcome,
  fromStoredError,
  IDEMPOTENCY_KEYS,
  type StoredOutcome,
  storeError,
  storeResponse,
  toStoredError,
} from "./store.ts";

interface Idempotency {
  key: string;
  fingerprint: Uint8Array;
}

export interface IdempotentRequest<R> {
  ownerId: string;
  /** From the request message; without one the write runs unconditionally. */
  idempotency: Idempotency | undefined;
  /** The response message's codec, as ts-proto generates it. */
  codec: { encode(message: R): { finish(): Uint8Array }; decode(bytes: Uint8Array): R };
  /** The call, marked when its answer is a replay. */
  call: { replayed?: boolean };
}

/** Errors that depend only on the request and the stored state. Other errors may pass, so a repeat runs again. */
const STORED_KINDS: ReadonlySet<ErrorKind> = new Set(["invalid", "condition", "not_found", "conflict"]);

/**
 * Runs a write in one transaction with its idempotency key (docs/decisions/0005-idempotency-kept-with-the-write.md). A repetition
 * within 24 hours gets the first one's response or error; if the first still runs, in this process or another, it waits. Needs the
 * table of `table.sql` in the service's schema, and that of `bytes.sql` unless every response is empty. `write` must use only the
 * transaction it is given, and no other service.
 * @throws ServiceError `invalid` when the key came with another request before, `rate_limited` when the owner has no room for the
 *   response; whatever `write` throws
 */
export async function runIdempotent<R>(
  { db, clock }: { db: Database; clock: Clock },
  { ownerId, idempotency, codec, call }: IdempotentRequest<R>,
  write: (tx: Sql) => Promise<R>,
): Promise<R> {
  if (!idempotency) return (await db.begin(write)) as R;
  const id = { ownerId, key: idempotency.key };
  const now = clock.now();
  const outcome = await db.begin(async (tx): Promise<Outcome<R>> => {
    const isTaken = await takeKey(tx, IDEMPOTENCY_KEYS, id, idempotency.fingerprint, now);
    const stored = isTaken ? null : await findOutcome(tx, id, keysExpiredAt(now));
    if (stored) return replay(stored, { idempotency, codec, call });
    try {
      // A savepoint, so that a refused write leaves only its error behind.
      const response = (await tx.savepoint(write)) as R;
      await storeResponse(tx, id, codec.encode(response).finish());
      return { response };
    } catch (error) {
      if (!isDecided(error)) throw error;
      await storeError(tx, id, toStoredError(error));
      return { error };
    }
  });
  return resultOf(outcome);
}

/** A write whose preparation calls other services, for which no transaction may wait. */
interface PreparedWrite<P, R> {
  prepare: () => Promise<P>;
  write: (tx: Sql, prepared: P) => Promise<R>;
}

/**
 * `runIdempotent` with preparation before its transaction. Prepares nothing for a key that has its answer. Of
 * concurrent requests with one key, one writes and the others get its answer, so preparation must be harmless to
 * repeat, or the caller must serialize it.
 * @throws as `runIdempotent` does; an error of `prepare` is stored like one of `write`
 */
export async function runPrepared<P, R>(
  ctx: { db: Database; clock: Clock },
  request: IdempotentRequest<R>,
  { prepare, write }: PreparedWrite<P, R>,
): Promise<R> {
  const { ownerId, idempotency } = request;
  if (!idempotency) return runWith(await prepare());
  const stored = await findOutcome(ctx.db, { ownerId, key: idempotency.key }, keysExpiredAt(ctx.clock.now()));
  if (stored) return resultOf(replay(stored, { ...request, idempotency }));
  const prepared = await decided(prepare());
  if (!("refusal" in prepared)) return runWith(prepared.value);
  return runIdempotent(ctx, request, () => Promise.reject(prepared.refusal));

  function runWith(prepared: P): Promise<R> {
    return runIdempotent(ctx, request, (tx) => write(tx, prepared));
  }
}

/** Whether a repeat would fail in the same way, so that the error is stored and returned again. */
function isDecided(error: unknown): error is ServiceError {
  return error instanceof ServiceError && STORED_KINDS.has(error.kind);
}

/**
 * Returns the work's result, or its error if a repeat would fail in the same way.
 * @throws any other error of the work
 */
export async function decided<T>(work: Promise<T>): Promise<{ value: T } | { refusal: ServiceError }> {
  try {
    return { value: await work };
  } catch (error) {
    if (!isDecided(error)) throw error;
    return { refusal: error };
  }
}

type Outcome<R> = { response: R } | { error: ServiceError };

function resultOf<R>(outcome: Outcome<R>): R {
  if ("error" in outcome) throw outcome.error;
  return outcome.response;
}

/** @throws ServiceError invalid when the key was used with another request */
function replay<R>(
  { fingerprint, response, error }: StoredOutcome,
  { idempotency, codec, call }: Pick<IdempotentRequest<R>, "codec" | "call"> & { idempotency: Idempotency },
): Outcome<R> {
  refuseOtherRequest(fingerprint, idempotency.fingerprint);
  call.replayed = true;
  if (error) return { error: fromStoredError(error) };
  if (response) return { response: codec.decode(response) };
  throw new Error("an idempotency key was committed without an outcome");
}
