import { invalid } from "@parley/shared/errors";

const EMAIL_LENGTH_MAX = 254;
// https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** @throws ServiceError invalid */
export function checkEmail(email: string): void {
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email)) {
    throw invalid("email", "email must be an email address, such as ann@example.com");
  }
}
