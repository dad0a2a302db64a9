/** The orders of an attacker process. */
export interface Orders {
  attack: string;
  url: string;
  ownerId: string;
  apiKey: string;
  /** Address of the hostile endpoints. */
  endpointsUrl: string;
  conversationAddress: string;
  dispatcherAddress: string;
}

/** The reports of an attacker process: that it is prepared, and the outcomes of its requests. */
export type Report = { ready: true } | { failed: string } | { tally: Record<string, number> };
