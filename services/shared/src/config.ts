import { cleanEnv, type ReporterOptions, type ValidatorSpec } from "envalid";

/** Every wrong or missing variable of a process, told at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads a process's configuration from its environment.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function readConfig<S extends Record<string, ValidatorSpec<unknown>>>(
  env: Record<string, string | undefined>,
  specs: S,
): { [K in keyof S]: S[K] extends ValidatorSpec<infer T> ? T : never } {
  const known = Object.fromEntries(Object.keys(specs).map((name) => [name, env[name] || undefined]));
  const clean = cleanEnv(known, specs, { reporter: throwAll });
  return { ...clean } as { [K in keyof S]: S[K] extends ValidatorSpec<infer T> ? T : never };
}

function throwAll({ errors }: ReporterOptions<unknown>): void {
  const lines = Object.entries<Error | undefined>(errors).map(([name, error]) => `  ${name}: ${error?.message ?? "wrong"}`);
  if (lines.length > 0) throw new ConfigError(`The environment is not right:\n${lines.join("\n")}`);
}
