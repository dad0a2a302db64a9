import { ServiceError } from "@parley/shared/errors";

/** A message that a response must carry: protocol buffers make every message field optional. */
export function required<T>(message: T | undefined): T {
  if (message === undefined)
    throw new ServiceError("internal", "a service left a required message out of its response");
  return message;
}
