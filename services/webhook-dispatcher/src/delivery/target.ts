import type { Sealer } from "@parley/shared/sealing";
import { signer } from "../secrets.ts";
import type { DestinationRow } from "../store/destinations.ts";
import type { Target } from "./attempt.ts";

/** Where a destination's requests go. A secret that cannot be decrypted fails the attempts, which the owner sees; failing the lane would retry forever. */
export function targetOf(sealer: Sealer, destination: DestinationRow): Target {
  const { url, requestType, retrySchedule } = destination;
  try {
    return { url, requestType, retrySchedule, sign: signer(sealer, destination) };
  } catch (error) {
    const sign = () => {
      throw error;
    };
    return { url, requestType, retrySchedule, sign };
  }
}
