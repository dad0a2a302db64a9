import type { CarrierAccount } from "./account.ts";

/**
 * A SIP trunk. The voice service registers with it and calls through it; nothing can be verified or changed over HTTP, so its numbers
 * are the owner's word.
 */
export const sipAccount: CarrierAccount = {
  verify: async () => {},
  numbers: {
    list: async () => [],
    find: async () => ({}),
    point: async () => {},
    restore: async () => {},
  },
};
