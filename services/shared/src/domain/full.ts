import { ServiceError } from "../errors.ts";

/** The error that refuses what would be stored for an owner without room for it; the same request may succeed later. */
export function fullError(detail: string): ServiceError {
  return new ServiceError("conflict", detail, { metadata: { full: "true" } });
}

export function isFull(error: unknown): boolean {
  return error instanceof ServiceError && error.metadata.full !== undefined;
}
