import { worded } from "./field-names.ts";

/** The API's answer instead of a result, or the fact that it could not be reached. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** 0 when the gateway could not be reached. */
  readonly status: number;
  /** Violated rules by the path of their field, such as `llm.model_name`. */
  readonly fields: ReadonlyMap<string, string>;
  /** The faults of the request, in order; a field may have several. */
  readonly violations: readonly string[];
  /** Seconds after which a retry may succeed; 0 if the API did not say. */
  readonly retryAfterSeconds: number;
  /** Whether it came so late that it is told at once. */
  isLate = false;

  constructor(
    status: number,
    detail: string,
    fields = new Map<string, string>(),
    retryAfterSeconds = 0,
    violations: readonly string[] = [],
  ) {
    super(detail);
    this.status = status;
    this.fields = fields;
    this.violations = violations;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Reads the problem in a response, in the words of the page. */
export function problemIn(response: Response, body: unknown): Problem {
  const { detail, errors: told = [] } = (body ?? {}) as {
    detail?: string;
    errors?: { path: string; message: string }[];
  };
  const errors = told.map(({ path, message }) => ({ path, message: worded(message, path) }));
  const path = told.find(({ message }) => message === detail)?.path;
  const fields = new Map(errors.map(({ path, message }) => [path, message]));
  const retryAfter = Number(response.headers.get("retry-after") ?? 0);
  return new Problem(
    response.status,
    detail === undefined ? `The server responded with status ${response.status}` : worded(detail, path),
    fields,
    retryAfter,
    errors.map(({ message }) => message),
  );
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();

/** The API's messages about the fields of a refused request, by their paths; empty for any other failure. */
export function fieldsOf(error: unknown): ReadonlyMap<string, string> {
  return error instanceof Problem ? error.fields : NO_FIELDS;
}

/** The API's message about a field, or about the first wrong item if the field is a list; undefined if it found no fault. */
export function messageAt(fields: ReadonlyMap<string, string>, path: string): string | undefined {
  const isItem = (at: string) => at.startsWith(`${path}.`) && /^\d+$/.test(at.slice(path.length + 1));
  return fields.get(path) ?? fields.get(fields.keys().find(isItem) ?? "");
}

/** The sentence to show for anything thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
