import type { Static, TObject } from "@sinclair/typebox";
import { type Admitted, type GateContext, gated } from "../gate.ts";
import type { Described } from "../openapi/document.ts";
import type { Operation } from "../openapi/operation.ts";

/** A handler with the operation's rules, and the hooks through which the document finds the operation. */
export function endpoint<B extends TObject = TObject, Q extends TObject = TObject>(
  gate: GateContext,
  operation: Operation<B, Q>,
  work: (admitted: Admitted<Static<B>, Static<Q>>) => Promise<object | string>,
) {
  // The gate reads bodies itself: only after the key is accepted, and with its own errors.
  const hooks = { parse: "none" as const, detail: { operation } as object };
  return [gated(gate, operation, work), hooks] as const;
}

/** Of the operations of the management API. */
export const MANAGED = { tag: "Management", scope: "session" } as const;

/** Makes endpoints that share a part of their operations, such as the tag. */
export function endpoints<S extends Partial<Operation>>(gate: GateContext, shared: S) {
  return <B extends TObject = TObject, Q extends TObject = TObject>(
    operation: Omit<Operation<B, Q>, keyof S>,
    work: (admitted: Admitted<Static<B>, Static<Q>>) => Promise<object | string>,
  ) => endpoint<B, Q>(gate, { ...shared, ...operation } as unknown as Operation<B, Q>, work);
}

/** The operation that a route was created with, if any. */
export function operationOf(hooks: { detail?: object } | undefined): Described | undefined {
  return (hooks?.detail as { operation?: Described } | undefined)?.operation;
}
