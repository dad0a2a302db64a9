/** What stands in place of a secret. */
const MASK = "[secret]";

/**
 * Masks secrets in a text, in each form that a request or an answer may have them: as they are, in JSON, in a URL, in a form.
 * @param secrets values of secrets, and what is made of them (a basic credential, an OAuth token); none of them empty
 */
export function maskOf(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set([...secrets].flatMap(formsOf));
  // A longer one first, which may contain another.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

function formsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(secret);
  const lower = inUrl.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase());
  const inForm = new URLSearchParams({ s: secret }).toString().slice(2);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const slashed = inJson.replaceAll("/", "\\/");
  const ascii = inJson.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [secret, inUrl, lower, inForm, inJson, slashed, ascii];
}
