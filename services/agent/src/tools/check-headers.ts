import { invalid } from "@parley/shared/errors";

// https://www.rfc-editor.org/rfc/rfc9110#section-5.1
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
/** Parley sets these itself, or they are about the connection, which is its own. */
const RESERVED =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|expect|upgrade|accept-encoding|idempotency-key|webhook-.*|traceparent|x-parley-conversation-id)$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @throws ServiceError invalid */
export function checkHeaderName(path: string, name: string): void {
  if (!TOKEN.test(name)) throw invalid(path, `${path} must be the name of an HTTP header`);
  if (isReservedHeader(name)) throw invalid(path, `${path} must not be ${name}, which Parley sets itself`);
}

export function isReservedHeader(name: string): boolean {
  return RESERVED.test(name);
}

/** @throws ServiceError invalid */
export function checkHeaderValue(path: string, value: string): void {
  if (!VALUE.test(value)) throw invalid(path, `${path} must be one line of characters that a header can have`);
}
