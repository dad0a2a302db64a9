const GENERATED = /\b[a-z]{2,4}_[0-9a-z]{26}\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g;
const SECRETS = /\b(?:whsec_|vk_)[\w+/=]+/g;
/** Days too: between two answers a new one may begin. */
const TIMES = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}\.\d{3}Z)?/g;

/** An answer as JSON in which names, generated IDs, secrets and times are the same for every request. */
export function shapeOf(answer: unknown, names: Readonly<Record<string, string>>): string {
  let text = JSON.stringify(answer) ?? "";
  // Longer ones first, because one may be part of another.
  const named = Object.entries(names).toSorted(([, a], [, b]) => b.length - a.length);
  for (const [field, name] of named) text = text.replaceAll(name, `<${field}>`);
  return text.replaceAll(GENERATED, "<id>").replaceAll(SECRETS, "<secret>").replaceAll(TIMES, "<time>");
}
