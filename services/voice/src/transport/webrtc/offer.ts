import { invalid, type ServiceError } from "@parley/shared/errors";
import { parse } from "sdp-transform";

/** Limit for an offer; browsers send 2 to 6 KB. */
const OFFER_MAX_BYTES = 64 * 1024;

/** @throws ServiceError invalid if no call can be made from the offer, saying why */
export function checkOffer(offer: string): void {
  if (Buffer.byteLength(offer) > OFFER_MAX_BYTES) throw invalidOffer("it is larger than 64 KiB");
  const audio = mediaOf(offer).find(({ type }) => type === "audio");
  if (!audio) throw invalidOffer("it has no audio");
  const isOpus = audio.rtp.some(({ codec, rate }) => codec.toLowerCase() === "opus" && rate === 48_000);
  if (!isOpus) throw invalidOffer("it does not offer Opus");
}

function mediaOf(offer: string): ReturnType<typeof parse>["media"] {
  try {
    return parse(offer).media ?? [];
  } catch {
    return [];
  }
}

export function invalidOffer(why: string): ServiceError {
  return invalid("", `The SDP offer cannot be answered: ${why}`);
}
