import { OWNER_IDS } from "@parley/proto/owner-ids.ts";
import { invalid } from "../errors.ts";

/** @throws ServiceError invalid, naming the field, when an owner id of the request is empty */
export type CheckOwnerIds = (request: unknown) => void;

/** Checks an RPC's requests for all handlers: a missing owner id must never read or write another set of rows. */
export function ownerIdCheck(rpcPath: string): CheckOwnerIds {
  const fields = (OWNER_IDS[rpcPath] ?? []).map((field) => field.split("."));
  return (request) => {
    for (const field of fields) refuseEmpty(request, field, "");
  };
}

/** Returns the owner of an RPC's request; "" if it names none or several. */
export function ownerIdReader(rpcPath: string): (request: unknown) => string {
  const [path, ...more] = OWNER_IDS[rpcPath] ?? [];
  if (path === undefined || more.length > 0 || path.includes("[]")) return () => "";
  const names = path.split(".").map(camelCase);
  return (request) => {
    let value: unknown = request;
    for (const name of names) value = (value as Record<string, unknown> | undefined)?.[name];
    return typeof value === "string" ? value : "";
  };
}

function refuseEmpty(value: unknown, [name = "", ...rest]: readonly string[], path: string): void {
  if (value === undefined) return;
  if (name === "") {
    if (value === "") throw invalid(path, `${path} must not be empty`);
    return;
  }
  const field = name.replace(/\[\]$/, "");
  const inner = (value as Record<string, unknown>)[camelCase(field)];
  const innerPath = path === "" ? field : `${path}.${field}`;
  if (Array.isArray(inner)) for (const [at, item] of inner.entries()) refuseEmpty(item, rest, `${innerPath}.${at}`);
  else refuseEmpty(inner, rest, innerPath);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
