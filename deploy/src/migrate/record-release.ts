import { join } from "node:path";
import { sha256Of } from "@parley/shared/db/migrate";
import { MIGRATIONS } from "./migrations.ts";

/** Writes `deploy/releases/<version>.json`: the migrations of the release that is being made, which never change after it. */
const root = join(import.meta.dir, "../../..");
const { version } = await Bun.file(join(root, "package.json")).json();
const recorded = Object.entries(MIGRATIONS).map(([schema, migrations]) => [
  schema,
  Object.fromEntries(migrations.map(({ name, sql }) => [name, sha256Of(sql)])),
]);
const path = join("deploy/releases", `${version}.json`);
await Bun.write(join(root, path), `${JSON.stringify(Object.fromEntries(recorded), null, 2)}\n`);
console.log(`Wrote ${path}. Name ${version} in package.json: upgradesFrom`);
