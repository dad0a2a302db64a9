import type { components } from "../../../api/gen/schema.ts";

type Changes = components["schemas"]["UpdateAgentRequest"];

/** What someone has changed of an agent, until it is saved. */
export interface Edits {
  /** Only what differs from the stored agent. */
  changes: Changes;
  /** For each changed place, what the agent had there when it was changed first. */
  bases: Readonly<Record<string, unknown>>;
}

export const NO_EDITS: Edits = { changes: {}, bases: {} };

/** A field that was changed here and, in the meantime, elsewhere too. */
export interface Conflict {
  field: keyof Changes;
  /** What the agent has there now; of a prompt, its text or name. */
  theirs: unknown;
}

/** The edits with further changes. */
export function edited({ changes, bases }: Edits, changed: Changes, stored: Changes): Edits {
  return basedOn(without(withOnePrompt({ ...changes, ...changed }, changed), stored), bases, stored);
}

/** Earlier edits, and those made since on top of them. */
export function joined(earlier: Edits, since: Edits, stored: Changes): Edits {
  const changes = withOnePrompt({ ...earlier.changes, ...since.changes }, since.changes);
  return basedOn(changes, { ...since.bases, ...earlier.bases }, stored);
}

/** What is left of edits after `sent` was saved: text typed during the save stays a change, of what was saved. */
export function unsaved({ changes, bases }: Edits, sent: Changes, saved: Changes): Edits {
  const places = Object.keys(sent).map(placeOf);
  const untouched = Object.fromEntries(Object.entries(bases).filter(([place]) => !places.includes(place)));
  return basedOn(without(changes, sent), untouched, saved);
}

/** The edits without the change of a field. */
export function dropped({ changes, bases }: Edits, field: keyof Changes): Edits {
  const left = Object.fromEntries(Object.entries(changes).filter(([name]) => name !== field));
  return basedOn(left, bases, {});
}

/** The edits with the change of a field, whatever the agent has there now. */
export function kept({ changes, bases }: Edits, field: keyof Changes, stored: Changes): Edits {
  return { changes, bases: { ...bases, [placeOf(field)]: valueAt(stored, placeOf(field)) } };
}

/** The fields that were changed here, and since then to another value elsewhere. */
export function conflictsOf({ changes, bases }: Edits, stored: Changes): Conflict[] {
  return (Object.keys(changes) as (keyof Changes)[])
    .filter((field) => !isSame(bases[placeOf(field)], valueAt(stored, placeOf(field))))
    .filter((field) => !isSame(changes[field], stored[field]))
    .map((field) => ({ field, theirs: placeOf(field) === PROMPT ? promptIn(stored) : stored[field] }));
}

/** @param known bases that stay as they are */
function basedOn(changes: Changes, known: Edits["bases"], stored: Changes): Edits {
  const places = Object.keys(changes).map(placeOf);
  const bases = places.map((place) => [place, place in known ? known[place] : valueAt(stored, place)]);
  return { changes, bases: Object.fromEntries(bases) };
}

const PROMPT = "prompt";

/** An agent has a text of its own or a named prompt, in one place. */
function placeOf(field: string): string {
  return field === "prompt_content" ? PROMPT : field;
}

function valueAt(values: Changes, place: string): unknown {
  return place === PROMPT ? [values.prompt ?? null, values.prompt_content ?? null] : values[place as keyof Changes];
}

function promptIn({ prompt, prompt_content }: Changes): string | null {
  return prompt_content ?? prompt?.prompt_name ?? null;
}

/** The one that was set last. */
function withOnePrompt(changes: Changes, changed: Changes): Changes {
  const { prompt, prompt_content, ...others } = changes;
  if ("prompt_content" in changed) return { ...others, prompt_content: prompt_content ?? null };
  if ("prompt" in changed) return { ...others, prompt: prompt ?? null };
  return changes;
}

/** The changes that differ from `known`. */
function without(changes: Changes, known: Changes): Changes {
  const differing = Object.entries(changes).filter(
    ([field, value]) => !(field in known) || !isSame(value, known[field as keyof Changes]),
  );
  return Object.fromEntries(differing);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
