import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import {
  countNumbers,
  findHolder,
  findNumber,
  insertNumber,
  lockNumber,
  type NumberRow,
  type Proof,
  replaceClaim,
  updateNumber,
} from "./store/mobile-numbers.ts";

interface Claim extends Pick<NumberRow, "ownerId" | "mobileNumber" | "telephonyProvider" | "carrierId" | "before"> {
  /** Null if the owner proves nothing with it. */
  proof: Proof | null;
}

/** Limit per owner: they are listed without pages. */
const NUMBERS_MAX = 1_000;

/**
 * Stores an owner's claim of a number, which belongs to one owner, or a call to it could not be attributed. A proven claim replaces
 * another owner's unproven one, and the operator's word any other. Needs the owner's lock.
 * @throws ServiceError conflict if the number is another owner's, or the owner has too many
 */
export async function claimNumber(
  tx: Sql,
  { proof, ...claim }: Claim,
  { now, log }: { now: Date; log: Logger },
): Promise<NumberRow> {
  const { ownerId, mobileNumber } = claim;
  await lockNumber(tx, mobileNumber);
  const [holder, known] = [await findHolder(tx, mobileNumber), await findNumber(tx, ownerId, mobileNumber)];
  const other = holder && holder.ownerId !== ownerId ? holder : null;
  if (other && !outranks(proof, other.provenBy))
    throw new ServiceError("conflict", `mobile_number ${mobileNumber} belongs to another owner`);
  if (other) {
    await replaceClaim(tx, other, now);
    const owners = { owner_id: ownerId, previous_owner_id: other.ownerId };
    log.warn(
      { ...owners, mobile_number: mobileNumber, proof },
      "an owner's proof replaced another owner's claim of a number",
    );
  }
  const own = known?.replacedAt === null ? known : null;
  const proven = proof === null ? { provenBy: own?.provenBy ?? null, provenAt: own?.provenAt ?? null } : null;
  const row: NumberRow = {
    ...claim,
    ...(proven ?? { provenBy: proof, provenAt: now }),
    replacedAt: null,
    replacesAt: other ? now : (own?.replacesAt ?? null),
  };
  if (known) await updateNumber(tx, row);
  else {
    if ((await countNumbers(tx, ownerId)) >= NUMBERS_MAX)
      throw new ServiceError("conflict", `There are ${NUMBERS_MAX} phone numbers already: remove one first`);
    await insertNumber(tx, row, now);
  }
  return row;
}

function outranks(proof: Proof | null, others: Proof | null): boolean {
  return proof === "OPERATOR" || (proof !== null && others === null);
}
