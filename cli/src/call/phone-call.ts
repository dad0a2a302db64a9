import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "@parley/shared/errors";
import type { Value } from "../print.ts";
import type { PublicApi } from "../public-api.ts";

interface PhoneCall extends Record<string, Value> {
  call_id: string;
  status: string;
  outcome: string | null;
}

const EVERY_MS = 500;

/**
 * Makes an agent call a number, and follows the call to its end.
 * @param hangUp hangs up when it is aborted, once
 * @param tell is called with each status; what it throws ends the following, and the call continues
 */
export async function phoneCall(
  api: PublicApi,
  { agentId, to }: { agentId: string; to: string },
  hangUp: AbortSignal,
  tell: (status: string) => Promise<void>,
): Promise<PhoneCall> {
  const { call_id } = await api.post<PhoneCall>("/calls", { agent_id: agentId, to_mobile_number: to });
  let told = "";
  let isUnwanted = false;
  for (;;) {
    if (hangUp.aborted && !isUnwanted) {
      isUnwanted = true;
      await api.post(`/calls/${call_id}/hangup`);
    }
    const call = await follow(api, call_id);
    if (call && call.status !== told) {
      told = call.status;
      await tell(told);
    }
    if (call?.status === "ENDED") return call;
    await sleep(EVERY_MS);
  }
}

/** Null while the API is down. */
async function follow(api: PublicApi, callId: string): Promise<PhoneCall | null> {
  try {
    return await api.get<PhoneCall>(`/calls/${callId}`);
  } catch (error) {
    if (error instanceof ServiceError && ["unavailable", "rate_limited"].includes(error.kind)) return null;
    throw error;
  }
}
