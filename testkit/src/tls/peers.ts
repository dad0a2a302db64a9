import { ADMITTED, type Admitted, type ServiceName } from "@parley/shared/rpc/tls/peers";

/** All processes that each service serves. */
export const PEERS: Readonly<Record<ServiceName, readonly string[]>> = {
  account: allOf(ADMITTED.account),
  agent: allOf(ADMITTED.agent),
  prompt: allOf(ADMITTED.prompt),
  conversation: allOf(ADMITTED.conversation),
  "webhook-dispatcher": allOf(ADMITTED["webhook-dispatcher"]),
  voice: allOf(ADMITTED.voice),
  messaging: allOf(ADMITTED.messaging),
  knowledge: allOf(ADMITTED.knowledge),
};

function allOf(admitted: Admitted): readonly string[] {
  return [...new Set(Object.values(admitted).flat())];
}
