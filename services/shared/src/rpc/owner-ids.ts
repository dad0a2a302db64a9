import { OWNER_IDS } from "@parley/proto/owner-ids.ts";
import { invalid } from "../errors.ts";

/** @throws ServiceError invalid, naming the field, when an owner id of the request is empty */
export type CheckOwnerIds = (request: unknown) => void;

/** Checks an RPC's requests for all handlers: a missing owner id must never read or write another set of rows. */
export function ownerIdCheck(rpcPath: string): CheckOwnerIds {
  const fields = (OWNER_IDS[rpcPath] ?? []).map((path) => path.split(".").map(stepOf));
  return (request) => {
    for (const steps of fields) {
      const path = findEmpty(request, steps)?.slice(1);
      if (path !== undefined) throw invalid(path, `${path} must not be empty`);
    }
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

/** A field on the way to an owner id: its name in the protocol and in the decoded message. */
interface Step {
  field: string;
  name: string;
}

function stepOf(part: string): Step {
  const field = part.replace(/\[\]$/, "");
  return { field, name: camelCase(field) };
}

/** Returns the path of the first empty owner id, each field after a dot; null if there is none. A call may have hundreds of items. */
function findEmpty(value: unknown, steps: readonly Step[], at = 0): string | null {
  if (value === undefined) return null;
  const step = steps[at];
  if (!step) return value === "" ? "" : null;
  const inner = (value as Record<string, unknown>)[step.name];
  if (!Array.isArray(inner)) {
    const path = findEmpty(inner, steps, at + 1);
    return path === null ? null : `.${step.field}${path}`;
  }
  for (let item = 0; item < inner.length; item++) {
    const path = findEmpty(inner[item], steps, at + 1);
    if (path !== null) return `.${step.field}.${item}${path}`;
  }
  return null;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
