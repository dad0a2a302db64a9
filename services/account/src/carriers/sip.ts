import type { CarrierAccount } from "./account.ts";

/**
 * A SIP trunk. The voice service registers with it and calls through it; nothing can be verified or changed over HTTP, so Parley
 * trusts what the owner says about its numbers.
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
