import { ServiceError } from "../errors.ts";

/** What an owner stores of one kind, and its limit. */
export interface RoomSettings {
  /** Limit for everything of one owner that is counted. */
  bytesMax: number;
  /** What is counted, in the plural. */
  what: string;
  /** How its owner makes room. */
  remedy: string;
}

/** The error that refuses what would be stored for an owner without room for it; the same request may succeed later. */
export function fullError(room: RoomSettings): ServiceError {
  return new ServiceError("conflict", fullDetail(room), { metadata: { full: "true" } });
}

/** The text of a refusal for want of room. */
export function fullDetail({ bytesMax, what, remedy }: RoomSettings): string {
  return `${what} would have more than ${bytesMax.toLocaleString("en-US")} bytes together: ${remedy}`;
}

export function isFull(error: unknown): boolean {
  return error instanceof ServiceError && error.metadata.full !== undefined;
}
