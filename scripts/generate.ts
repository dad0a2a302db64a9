import { resolve } from "node:path";
import { $ } from "bun";
import { ownerIdsSource } from "../proto/owner-ids.ts";

/**
 * Generates from the protos the TypeScript stubs, the descriptor set and the positions of owner ids in requests;
 * `proto/gen` is checked in.
 */
export async function generate(out: string): Promise<void> {
  await $`../node_modules/.bin/buf generate --output ${out}`.cwd("proto");
  await $`../node_modules/.bin/buf build --as-file-descriptor-set -o ${out}/gen/descriptors.binpb`.cwd("proto");
  const gen = resolve("proto", out, "gen");
  const descriptors = await Bun.file(`${gen}/descriptors.binpb`).bytes();
  await Bun.write(`${gen}/owner-ids.ts`, ownerIdsSource(descriptors));
}

if (import.meta.main) await generate(".");
