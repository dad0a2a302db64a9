import type { CarrierNumber } from "@parley/proto/parley/account/v1/account.ts";
import type { NumberSettings } from "../store/mobile-numbers.ts";

/**
 * An account with a carrier, as this service uses it: its credentials and its numbers. Its adapters are beside this file. Every
 * method throws CarrierUnavailable if the carrier does not answer, and CarrierRefusal for any refusal that its own description
 * does not name.
 */
export interface CarrierAccount {
  /** @throws ServiceError invalid, naming the part of the credentials that is wrong; condition for an account that is closed */
  verify(signal?: AbortSignal): Promise<void>;
  /** Null for a provider without phone numbers of its own. */
  numbers: CarrierNumbers | null;
}

interface CarrierNumbers {
  /** In the carrier's order, NUMBERS_MAX at most. */
  list(signal?: AbortSignal): Promise<Omit<CarrierNumber, "imported">[]>;
  /** The number's settings at the carrier now; null if the account does not have the number. */
  find(mobileNumber: string, signal?: AbortSignal): Promise<NumberSettings | null>;
  /** Makes the carrier send the number's calls here. May be repeated. */
  point(mobileNumber: string, signal?: AbortSignal): Promise<void>;
  /** Restores the number's earlier settings, unless someone has pointed it elsewhere since. May be repeated. */
  restore(mobileNumber: string, before: NumberSettings): Promise<void>;
}

export const NUMBERS_MAX = 1_000;
