import { invalid } from "@parley/shared/errors";
import { RE2JS } from "re2js";

/** Characters of an expression, and instructions that it may become, which counted repetitions multiply. */
const LENGTH_MAX = 500;
const SIZE_MAX = 1_000;
/** Characters times instructions: what a match may cost. The largest expression still searches 3,000 characters. */
const STEPS_MAX = 3_000_000;

/**
 * RE2's syntax has neither look-around nor back references, so that the time of a match grows with the text and the expression alone.
 * @throws ServiceError invalid
 */
export function checkExpression(expression: string, path: string): void {
  if (expression.length > LENGTH_MAX) throw invalid(path, `${path} must have at most ${LENGTH_MAX} characters`);
  if (compiled(expression, path).programSize() > SIZE_MAX)
    throw invalid(path, `${path} is too complex: repeat less in braces, such as {1,20} in place of {1,500}`);
}

/** Whether one of the texts matches, anywhere in it; null if the texts are too long for the expression. */
export function matcher(expression: string, texts: readonly string[]): ((text: string) => boolean) | null {
  const matching = RE2JS.compile(expression);
  const length = texts.reduce((total, text) => total + text.length, 0);
  return length * matching.programSize() > STEPS_MAX ? null : (text) => matching.matcher(text).find();
}

function compiled(expression: string, path: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "";
    throw invalid(path, `${path} must be a regular expression in RE2's syntax: ${why}`);
  }
}
