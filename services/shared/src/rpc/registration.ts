import type { StructFields } from "./bounded-structs.ts";
import type { Codec } from "./sliced-message.ts";

/** Properties of an RPC that its messages do not express. */
export interface Registration {
  /** Its calls use shares of their own instead of the share of the owner's other calls (owner-calls.ts). */
  hasOwnShares?: boolean;
  /** Reads a page of rows of which an owner may have hundreds of thousands: its calls use the smaller share of the owner's lists. */
  isList?: boolean;
  /** For a response of possibly several megabytes: it is encoded and sent slice by slice. */
  // biome-ignore lint/suspicious/noExplicitAny: each response has its own type
  largeResponse?: Codec<any>;
  /** The Structs of its request, of which each may have as many values as a JSON document. For unary RPCs. */
  structFields?: StructFields;
}

const registrations = new WeakMap<object, Registration>();

/** Attaches an RPC's properties to its handler, where the service names it. @returns the handler */
export function registered<H extends object>(handler: H, registration: Registration): H {
  registrations.set(handler, registration);
  return handler;
}

export function registrationOf(handler: object): Registration {
  return registrations.get(handler) ?? {};
}
