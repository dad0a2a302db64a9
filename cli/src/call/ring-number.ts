import { ServiceError } from "@parley/shared/errors";
import type { PublicApi } from "../public-api.ts";
import { type CallConversation, callApi, followCall } from "./captions.ts";
import type { StackAddresses } from "./stack-addresses.ts";

interface RungCall {
  /** As the carrier reports the end: completed, busy or failed. */
  status: string;
  /** What the carrier said or dialed, and what went wrong. */
  notes: string[];
  /** Null if no agent answered. */
  conversation: CallConversation | null;
}

interface StandInCall {
  carrier_call_id: string;
  status: string;
  notes: string[];
}

const EVERY_MS = 400;
const REQUEST_MS = 5_000;
const CALLER = "+12025550199";
const OVER = ["completed", "busy", "no-answer", "canceled", "failed"];

/** Whether a number is one of the owner's. */
export async function isOwnNumber(api: PublicApi, number: string): Promise<boolean> {
  const { purchased_mobile_numbers: own } = await api.get<{ purchased_mobile_numbers: { mobile_number: string }[] }>(
    "/mobile-numbers?include=sip",
  );
  return own.some(({ mobile_number }) => mobile_number === number);
}

/**
 * Has a phone of the stand-in carrier call one of the owner's numbers, and follows the call to its end.
 * @param say what the phone says, each when the agent has finished; empty for what the stand-in says by itself
 * @param tell is called with each message; what it throws ends the following, and the call continues
 */
export async function ringNumber(
  { carrierUrl, url, apiKey }: Pick<StackAddresses, "url" | "apiKey"> & { carrierUrl: string },
  { to, say }: { to: string; say: readonly string[] },
  tell: (role: string, content: string) => Promise<void>,
): Promise<RungCall> {
  const { find, search } = callApi(url, apiKey);
  const newest = () => search(CALLER);
  const known = await newest().catch(() => null);
  const script = { to, from: CALLER, ...(say.length > 0 && { say }) };
  let call = await control(carrierUrl, "/calls", { method: "POST", body: JSON.stringify(script) });
  const captions = followCall({ find, newest }, "", known?.conversation_id ?? null, tell);
  while (!OVER.includes(call.status)) {
    await Bun.sleep(EVERY_MS);
    call = await control(carrierUrl, `/calls/${call.carrier_call_id}`);
  }
  // A call that nobody answered has no conversation to wait for.
  const conversation = call.status === "completed" ? await captions.end() : null;
  return { status: call.status, notes: call.notes, conversation };
}

/** @throws ServiceError if there is no stand-in, or it does not have the number */
async function control(carrierUrl: string, path: string, init: RequestInit = {}): Promise<StandInCall> {
  const signal = AbortSignal.timeout(REQUEST_MS);
  const response = await fetch(new URL(`/control${path}`, carrierUrl), { ...init, signal }).catch((cause: unknown) => {
    throw new ServiceError("unavailable", `The stand-in carrier at ${carrierUrl} does not answer`, { cause });
  });
  const answer = (await response.json().catch(() => ({}))) as StandInCall & { detail?: string };
  if (response.ok) return answer;
  const detail = answer.detail ?? `it answered with ${response.status}`;
  throw new ServiceError("condition", `The stand-in carrier refuses the call: ${detail}`);
}
