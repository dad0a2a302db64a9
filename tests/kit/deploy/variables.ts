import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");

/** Whether a process's configuration has a variable. @param name of a service, or `gateway` */
export async function reads(name: string, variable: string): Promise<boolean> {
  const file = name === "gateway" ? "gateway/src/config.ts" : `services/${name}/src/config.ts`;
  return (await Bun.file(join(ROOT, file)).text()).includes(`\n  ${variable}: `);
}
