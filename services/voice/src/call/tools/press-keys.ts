import type { Logger } from "@parley/shared/log";
import { counter } from "@parley/shared/telemetry/instruments";
import type { Leg } from "../../transport/leg.ts";
import { asServiceError } from "../transcript.ts";

const presses = counter("parley.calls.keys", "Times that agents pressed keys, by outcome");

/** Presses keys of the phone. Never rejects. @returns why they could not be pressed, in one sentence; null if they were */
export async function pressKeys(leg: Leg, keys: string, log: Logger): Promise<string | null> {
  try {
    await leg.press(keys);
    presses().add(1, { outcome: "pressed" });
    return null;
  } catch (err) {
    presses().add(1, { outcome: "failed" });
    // The keys may be a secret.
    log.warn({ err }, "keys could not be pressed");
    return `Keys could not be pressed: ${asServiceError(err).detail}`;
  }
}
