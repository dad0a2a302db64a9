import { readFileSync } from "node:fs";
import { cleanEnv, EnvMissingError, makeValidator, type ValidatorSpec } from "envalid";

/** Reports all wrong or missing variables of a process at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How a process exits on a ConfigError, as sysexits.h names it: no restart helps. */
export const CONFIG_ERROR_EXIT = 78;

/** A number above zero; decimals allowed. */
export const positiveNumber = makeValidator<number>((text) => {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new Error(`must be a number above 0, not "${text}"`);
  return number;
});

export const positiveInteger = makeValidator<number>((text) => {
  const number = Number(text);
  if (!(number > 0 && Number.isSafeInteger(number))) throw new Error(`must be a whole number above 0, not "${text}"`);
  return number;
});

/** The values of a set of variables. */
export type ConfigOf<S> = { [K in keyof S]: S[K] extends ValidatorSpec<infer T> ? T : never };

/**
 * Reads a process's configuration from its environment. For each variable, `<its name>_FILE` may instead name a file
 * with the value, without its final line ending, as container secrets provide.
 * @throws ConfigError naming every variable that is missing or wrong, or the first whose file cannot be read
 */
export function readConfig<S extends Record<string, ValidatorSpec<unknown>>>(
  env: Record<string, string | undefined>,
  specs: S,
): ConfigOf<S> {
  const known = Object.fromEntries(Object.keys(specs).map((name) => [name, readVariable(env, name)]));
  const clean = cleanEnv(known, specs, { reporter: ({ errors }) => throwAll(errors, specs) });
  return { ...clean } as ConfigOf<S>;
}

/** A function that reads a process's configuration as `readConfig` does. */
export function configReader<S extends Record<string, ValidatorSpec<unknown>>>(specs: S) {
  return (env: Record<string, string | undefined>): ConfigOf<S> => readConfig(env, specs);
}

function readVariable(env: Record<string, string | undefined>, name: string): string | undefined {
  const given = env[name] || undefined;
  const file = env[`${name}_FILE`];
  if (!file) return given;
  if (given) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one`);
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "") || undefined;
  } catch (error) {
    throw new ConfigError(`${name}_FILE: ${error instanceof Error ? error.message : error}`);
  }
}

function throwAll(
  errors: Readonly<Record<string, Error | undefined>>,
  specs: Readonly<Record<string, ValidatorSpec<unknown>>>,
): void {
  const lines = Object.entries(errors).map(([name, error]) => {
    const meaning = specs[name]?.desc ? ` (${specs[name].desc})` : "";
    return `  ${name}${meaning}: ${error instanceof EnvMissingError ? "is missing" : (error?.message ?? "is wrong")}`;
  });
  if (lines.length > 0) throw new ConfigError(`The environment is invalid:\n${lines.join("\n")}`);
}
