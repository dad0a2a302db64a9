import { bodyOf } from "./body.ts";
import type { SipRequest } from "./message.ts";

/** Keys by their numbers as telephone events (RFC 4733, section 3.2). */
const NUMBERED: Readonly<Record<string, string>> = { "10": "*", "11": "#", "12": "A", "13": "B", "14": "C", "15": "D" };

/** A line of a key only, or `Signal=` and the key. */
const SIGNAL = /^[ \t]*(?:Signal[ \t]*=[ \t]*)?(\S{1,2})[ \t]*$/im;

/** The key that an INFO reports, as `application/dtmf-relay` or `application/dtmf`; null if it reports none. */
export function pressedKey(info: SipRequest): string | null {
  const body = bodyOf(info, "application/dtmf-relay") || bodyOf(info, "application/dtmf");
  const signal = SIGNAL.exec(body)?.[1]?.toUpperCase() ?? "";
  return /^[0-9A-D*#]$/.test(signal) ? signal : (NUMBERED[signal] ?? null);
}
