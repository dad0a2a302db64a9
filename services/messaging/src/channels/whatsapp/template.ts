import { invalid } from "@parley/shared/errors";
import { fieldOf, listOf, textOf } from "./fields.ts";

/**
 * A message that Meta has approved, with the values for its placeholders; the only kind for a person who has not written for a
 * day.
 */
export interface Template {
  name: string;
  /** Meta's code, such as `en_US`. */
  language: string;
  components: readonly unknown[];
}

const NAME = /^[a-z0-9_]{1,512}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(_[A-Za-z]{2,4})?$/;
const COMPONENTS_MAX = 20;
const COMPONENTS_BYTES_MAX = 32 * 1024;
const LINE_CHARACTERS_MAX = 4_096;

/** @throws ServiceError invalid, naming the field */
export function checkTemplate({ name, language, components }: Template): void {
  if (!NAME.test(name))
    throw invalid("template.name", "template.name must be 1 to 512 lower-case letters, digits and underscores");
  if (!LANGUAGE.test(language))
    throw invalid("template.language", "template.language must be a code such as en or en_US");
  if (components.length > COMPONENTS_MAX)
    throw invalid("template.components", `template.components must have at most ${COMPONENTS_MAX} items`);
  if (Buffer.byteLength(JSON.stringify(components)) > COMPONENTS_BYTES_MAX)
    throw invalid("template.components", "template.components must be at most 32 KiB");
}

/** The transcript's text for a template, whose words only Meta knows. */
export function templateText({ name, language, components }: Template): string {
  const values = components.flatMap((component) =>
    listOf(component, "parameters").map((parameter) => textOf(parameter, "text") || shownOf(parameter)),
  );
  const told = values.filter((value) => value !== "").join(", ");
  return `[template ${name} (${language})${told === "" ? "" : `: ${told}`}]`
    .slice(0, LINE_CHARACTERS_MAX)
    .toWellFormed();
}

/** The text of a parameter; for a currency or a date, the one that WhatsApp falls back to. */
function shownOf(parameter: unknown): string {
  return textOf(fieldOf(parameter, textOf(parameter, "type")), "fallback_value");
}
