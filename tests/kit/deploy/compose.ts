import { join } from "node:path";

export interface ComposeService {
  image?: string;
  build?: { dockerfile: string; target: string };
  environment?: Record<string, string>;
  command?: string[];
  secrets?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
  read_only?: boolean;
  stop_grace_period?: string;
  logging?: { driver: string; options: Record<string, string> };
}

export interface Compose {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, object>;
}

/** deploy/compose.yaml as compose reads it in an empty environment: `${NAME-default}` in a container's environment becomes its default. */
export async function readCompose(): Promise<Compose> {
  const compose = Bun.YAML.parse(
    await Bun.file(join(import.meta.dir, "../../../deploy/compose.yaml")).text(),
  ) as Compose;
  for (const service of Object.values(compose.services)) {
    const entries = Object.entries(service.environment ?? {});
    if (service.environment)
      service.environment = Object.fromEntries(entries.map(([name, value]) => [name, defaultOf(value)]));
  }
  return compose;
}

/** A default may contain another variable with its own. */
function defaultOf(value: string): string {
  const inner = value.replace(/\$\{\w+-([^{}]*)\}/g, "$1");
  return inner === value ? value : defaultOf(inner);
}

/** The variables that an operator may set for deploy/compose.yaml. */
export async function composeSettings(): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "../../../deploy/compose.yaml")).text();
  return [...new Set(Array.from(text.matchAll(/\$\{(\w+)/g), ([, name = ""]) => name))];
}
