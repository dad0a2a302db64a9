import { invalid } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";

const NAME = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,63}$/;
/** A shorter value would be masked wherever it happens to stand in an answer. */
const LENGTH_MIN = 8;
const LENGTH_MAX = 8_192;

/** @throws ServiceError invalid */
export function checkSecretName(name: string): void {
  if (!NAME.test(name))
    throw invalid(
      "name",
      "name must begin with a letter, a digit or an underscore, and have at most 64 of these, dots and hyphens",
    );
}

/** @throws ServiceError invalid */
export function checkSecretValue(value: string): void {
  const length = codePoints(value);
  if (length < LENGTH_MIN || length > LENGTH_MAX)
    throw invalid("value", `value must be ${LENGTH_MIN} to ${LENGTH_MAX} characters`);
  if (value.includes("\0")) throw invalid("value", "value must not contain a NUL character");
  if (value.trim() !== value) throw invalid("value", "value must not begin or end with white space");
}
