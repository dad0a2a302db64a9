import { file } from "bun";

/** `bun run help`: the commands of package.json, each with its sentence. */
const manifest: Record<"scripts" | "scripts-info", Record<string, string>> = await file("package.json").json();

const sentences = manifest["scripts-info"];
const names = Object.keys(manifest.scripts);
const width = Math.max(...names.map((name) => name.length)) + 2;
for (const name of names) console.log(`bun run ${name.padEnd(width)}${sentences[name]}`);
