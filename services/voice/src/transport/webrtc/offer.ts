import { invalid, type ServiceError } from "@parley/shared/errors";
import { parse } from "sdp-transform";

/** Limit for an offer, which is read at once. Browsers send 2 to 6 KB. */
const OFFER_MAX_BYTES = 16 * 1024;
/** Browsers offer audio, a data channel, and perhaps video. werift's work grows with the square of the number, and faster. */
const MEDIA_MAX = 8;

/** @throws ServiceError invalid if no call can be made from the offer, saying why */
export function checkOffer(offer: string): void {
  if (Buffer.byteLength(offer) > OFFER_MAX_BYTES) throw invalidOffer("it is larger than 16 KiB");
  const media = mediaOf(offer);
  if (media.length > MEDIA_MAX) throw invalidOffer(`it has more than ${MEDIA_MAX} media`);
  const audio = media.find(({ type }) => type === "audio");
  if (!audio) throw invalidOffer("it has no audio");
  const isOpus = audio.rtp.some(({ codec, rate }) => String(codec).toLowerCase() === "opus" && rate === 48_000);
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
