import { bodyOf } from "./body.ts";
import type { SipRequest } from "./message.ts";

/** Keys by their numbers as telephone events (RFC 4733, section 3.2). */
const NUMBERED: Readonly<Record<string, string>> = { "10": "*", "11": "#", "12": "A", "13": "B", "14": "C", "15": "D" };

/** A line of a key only, or `Signal=` and the key. */
const SIGNAL = /^(?:Signal\s*=)?\s*(\S{1,2})$/i;

/** The key that an INFO reports, as `application/dtmf-relay` or `application/dtmf`; null if it reports none. */
export function pressedKey(info: SipRequest): string | null {
  const body = bodyOf(info, "application/dtmf-relay") || bodyOf(info, "application/dtmf");
  // Trimmed first: a pattern with spaces at both ends would look through a long run of them again and again.
  const [signal = ""] = body.split(/[\r\n]+/).flatMap((line) => SIGNAL.exec(line.trim())?.[1]?.toUpperCase() ?? []);
  return /^[0-9A-D*#]$/.test(signal) ? signal : (NUMBERED[signal] ?? null);
}
