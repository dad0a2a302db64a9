import { networkOf } from "@parley/shared/rate-limit/network-of";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import type { Invite } from "../transport/sip/answering.ts";
import { countDigest } from "./metrics.ts";
import { numberOf } from "./numbers.ts";

/** Admits a call, or refuses it unseen if too many wrong credentials came before. @returns what `admit` returns, or null */
export type LimitDigests = <T>(invite: Invite, admit: () => Promise<T | null>) => Promise<T | null>;

/** Wrong credentials in a minute: of a network, and for a called number, which many networks may guess at. */
export const WRONG_MAX = { ofNetwork: 20, ofNumber: 60 };
/** Networks, and numbers, that are remembered. */
const KEYS_MAX = 10_000;

/** @param clock milliseconds */
export function digestLimits(clock: () => number): LimitDigests {
  const networks = slidingWindows({ keysMax: KEYS_MAX, clock });
  const numbers = slidingWindows({ keysMax: KEYS_MAX, clock });
  /** With a limit of zero, nothing is taken. */
  const isOver = (network: string, number: string) =>
    networks(network, 0).used >= WRONG_MAX.ofNetwork || numbers(number, 0).used >= WRONG_MAX.ofNumber;

  return async (invite, admit) => {
    const network = networkOf(invite.source.address);
    const number = numberOf(invite.called) ?? numberOf(invite.to) ?? "";
    if (invite.hasCredentials && isOver(network, number)) {
      countDigest("limited");
      invite.refuseOnce(403, "Forbidden");
      return null;
    }
    const admitted = await admit();
    const proof = invite.proof();
    if (proof) countDigest(proof);
    if (proof === "wrong") {
      networks(network, WRONG_MAX.ofNetwork);
      numbers(number, WRONG_MAX.ofNumber);
    }
    return admitted;
  };
}
