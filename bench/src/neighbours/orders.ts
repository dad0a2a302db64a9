/** What an attacker process is given. */
export interface Orders {
  attack: string;
  url: string;
  ownerId: string;
  apiKey: string;
  /** Of the hostile endpoints. */
  endpointsUrl: string;
  conversationAddress: string;
  dispatcherAddress: string;
}

/** What an attacker process tells: that it is prepared, and what its requests were answered with. */
export type Report = { ready: true } | { failed: string } | { tally: Record<string, number> };
