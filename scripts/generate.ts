import { join, resolve } from "node:path";
import { $ } from "bun";
import { ownerIdsSource } from "../proto/owner-ids.ts";

/** Where the generated code is kept, from the root of the checkout. */
export const GENERATED = { protocol: "proto/gen", dashboardApi: "dashboard/src/api/gen" } as const;

/**
 * Generates from the protos the TypeScript stubs, the descriptor set and the positions of owner ids in requests, and
 * from the OpenAPI document the types of the dashboard's API client. The results are checked in.
 * @param root folder to write to, with the paths of the checkout
 */
export async function generate(root: string): Promise<void> {
  const out = join(resolve(root), "proto");
  await $`../node_modules/.bin/buf generate --output ${out}`.cwd("proto");
  await $`../node_modules/.bin/buf build --as-file-descriptor-set -o ${out}/gen/descriptors.binpb`.cwd("proto");
  const gen = join(out, "gen");
  const descriptors = await Bun.file(`${gen}/descriptors.binpb`).bytes();
  await Bun.write(`${gen}/owner-ids.ts`, ownerIdsSource(descriptors));
  await generateDashboardApi(join(resolve(root), GENERATED.dashboardApi, "schema.ts"));
}

async function generateDashboardApi(file: string): Promise<void> {
  // The gateway may import what has just been generated for the first time.
  const { offlineDocument } = await import("../gateway/src/openapi/offline.ts");
  const document = new Response(await offlineDocument());
  // The option keeps `default` from making a request's field required.
  await $`${process.execPath} --bun node_modules/.bin/openapi-typescript --default-non-nullable=false --output ${file} < ${document}`
    .cwd("dashboard")
    .quiet();
}

if (import.meta.main) await generate(".");
