import { parsePhoneNumberFromString } from "libphonenumber-js/min";

/**
 * The number that someone typed, in E.164 form: one without a country is dialed as from the calling number, as on a telephone.
 * @param from the calling number in E.164 form, if it is known
 * @returns what was typed, without separators, if it is no number; the API says what is wrong
 */
export function calledNumber(typed: string, from: string | undefined): string {
  const written = typed
    .replaceAll(/\p{Cf}/gu, "")
    .trim()
    .replace(/^00/, "+");
  const country = from === undefined ? undefined : parsePhoneNumberFromString(from)?.country;
  const read = parsePhoneNumberFromString(written, { ...(country && { defaultCountry: country }), extract: false });
  // Nobody would dial the extension.
  return read && !read.ext ? read.number : written.replaceAll(/[\s()./-]/g, "");
}
