import type { StructFields } from "./bounded-structs.ts";

/** Properties of an RPC that its messages do not express. */
export interface Registration {
  /** Its calls use shares of their own instead of the share of the owner's other calls (owner-calls.ts). */
  hasOwnShares?: boolean;
  /** Its response may have megabytes, or is chosen among hundreds of thousands of rows: its calls use the smaller share of the owner's lists. */
  isList?: boolean;
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
