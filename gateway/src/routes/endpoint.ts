import type { Static, TObject } from "@sinclair/typebox";
import { type Admitted, type GateContext, gated } from "../gate.ts";
import type { Operation } from "../openapi/operation.ts";

/** A handler that the operation's rules guard, and the hooks by which the document finds the operation. */
export function endpoint<B extends TObject = TObject, Q extends TObject = TObject>(
  gate: GateContext,
  operation: Operation<B, Q>,
  work: (admitted: Admitted<Static<B>, Static<Q>>) => Promise<object>,
) {
  // The gate reads bodies itself: after the key is known to be good, and with errors of its own.
  const hooks = { parse: "none" as const, detail: { operation } as object };
  return [gated(gate, operation, work), hooks] as const;
}

/** The operation that a route was made with, if any. */
export function operationOf(hooks: { detail?: object } | undefined): Operation | undefined {
  return (hooks?.detail as { operation?: Operation } | undefined)?.operation;
}
