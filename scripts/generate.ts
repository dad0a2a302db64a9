import { $ } from "bun";

/** Generates the TypeScript stubs and the descriptor set from the protos; `proto/gen` is checked in. */
export async function generate(out: string): Promise<void> {
  await $`../node_modules/.bin/buf generate --output ${out}`.cwd("proto");
  await $`../node_modules/.bin/buf build --as-file-descriptor-set -o ${out}/gen/descriptors.binpb`.cwd("proto");
}

if (import.meta.main) await generate(".");
