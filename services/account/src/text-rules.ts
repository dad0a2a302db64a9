import { invalid } from "@parley/shared/errors";

const EMAIL_LENGTH_MAX = 254;
// https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** @throws ServiceError invalid unless the name has 1 to 100 characters, not only spaces and no control characters */
export function checkName(name: string): void {
  if (name.trim() === "" || [...name].length > 100 || /\p{Cc}/u.test(name)) {
    throw invalid("name", "name must be 1 to 100 printable characters");
  }
}

/** @throws ServiceError invalid */
export function checkEmail(email: string): void {
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email)) {
    throw invalid("email", "email must be an email address, such as ann@example.com");
  }
}
