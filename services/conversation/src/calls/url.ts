import { invalid } from "@parley/shared/errors";

const LENGTH_MAX = 2_048;

/** @throws ServiceError invalid unless it is an https address; nobody here requests it */
export function checkUrl(field: string, value: string): void {
  if (value.length > LENGTH_MAX || URL.parse(value)?.protocol !== "https:") {
    throw invalid(field, `${field} must be an https:// address of at most ${LENGTH_MAX} characters`);
  }
}
