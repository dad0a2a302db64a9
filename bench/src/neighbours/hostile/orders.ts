/** The orders of an attacker process. */
export interface Orders {
  attack: string;
  url: string;
  ownerId: string;
  apiKey: string;
  /** Address of the hostile endpoints. */
  endpointsUrl: string;
  /** Of the endpoint that sends nothing but interim responses. */
  interimUrl: string;
  accountAddress: string;
  conversationAddress: string;
  dispatcherAddress: string;
  /** host:port of WhatsApp's stand-in. */
  whatsAppAddress: string;
}

/** The reports of an attacker process: that it is prepared, and the outcomes of its requests. */
export type Report = { ready: true } | { failed: string } | { tally: Record<string, number> };
