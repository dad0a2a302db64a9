/** What stands in place of a secret. */
const MASK = "[secret]";

/** The most bytes that one UTF-16 code unit of a secret takes in any form. */
export const FORM_BYTES_MAX = 9;

/** How texts may write characters. Servers differ in which ones they escape. */
interface Form {
  escaped: RegExp;
  /** The characters that an escape stands for. */
  read(written: string): string;
}

const JSON_FORM: Form = {
  escaped: /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g,
  read: (written) => JSON.parse(`"${written}"`),
};
const URL_FORM: Form = {
  escaped:
    /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}/gi,
  read: (written) => Buffer.from(written.replaceAll("%", ""), "hex").toString(),
};
const FORM_FORM: Form = {
  escaped: new RegExp(`${URL_FORM.escaped.source}|\\+`, "gi"),
  read: (written) => (written === "+" ? " " : URL_FORM.read(written)),
};

/**
 * Masks secrets in a text, in each form that a request or an answer may have them: as they are, in JSON, in a URL, in a form.
 * @param secrets values of secrets, and what is made of them (a basic credential, an OAuth token); none of them empty
 */
export function maskOf(secrets: Iterable<string>): (text: string) => string {
  // A longer one first, which may contain another.
  const ordered = [...new Set(secrets)].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return (text) => text;
  const any = new RegExp(ordered.map((secret) => RegExp.escape(secret)).join("|"), "g");
  return (text) =>
    [JSON_FORM, URL_FORM, FORM_FORM].reduce((masked, form) => maskIn(masked, form, any), text.replace(any, MASK));
}

function maskIn(text: string, { escaped, read }: Form, secret: RegExp): string {
  /** The text without escapes, and where each of its code units stands in the text. */
  let plain = "";
  const places: number[] = [];
  const add = (piece: string, placeOf: (at: number) => number) => {
    plain += piece;
    for (let at = 0; at < piece.length; at++) places.push(placeOf(at));
  };
  let end = 0;
  for (const { 0: written, index } of text.matchAll(escaped)) {
    const from = end;
    add(text.slice(from, index), (at) => from + at);
    add(read(written), () => index);
    end = index + written.length;
  }
  if (end === 0) return text;
  add(text.slice(end), (at) => end + at);
  places.push(text.length);
  let masked = "";
  let shownTo = 0;
  for (const { 0: found, index } of plain.matchAll(secret)) {
    masked += text.slice(shownTo, places[index]) + MASK;
    shownTo = places[index + found.length] ?? text.length;
  }
  return masked + text.slice(shownTo);
}
