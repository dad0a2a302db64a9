import { link, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PROGRAMS } from "../deploy/src/images/programs.ts";
import { runFolder } from "../dev/processes/run-folder.ts";

/** What tests start again and again. */
const STARTED: Readonly<Record<string, string>> = {
  ...PROGRAMS,
  voice: "services/voice/src/main.ts",
  speech: "dev/stand-ins/speech/main.ts",
  carrier: "dev/stand-ins/carrier/main.ts",
  whatsapp: "dev/stand-ins/whatsapp/main.ts",
  daily: "dev/stand-ins/daily/main.ts",
};

export interface Binaries {
  /** The folder with a binary per program, named for it. */
  folder: string;
  remove(): Promise<void>;
}

/**
 * Compiles the programs that tests start, with their bytecode: a process then loads in a quarter of the CPU time. The
 * binaries are one file with many names, and run the program that they are called by.
 * @throws with the compiler's message
 */
export async function compileBinaries(): Promise<Binaries> {
  const folder = await runFolder(tmpdir(), "parley-binaries-");
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const [source, all, named] = ["main.ts", "all", "bin"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(source, dispatcher());
    await compile(source, all);
    await mkdir(named);
    for (const name of Object.keys(STARTED)) await link(all, join(named, name));
    return { folder: named, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function dispatcher(): string {
  const programs = Object.entries(STARTED).map(
    ([name, main]) => `${JSON.stringify(name)}: () => import(${JSON.stringify(resolve(main))}),`,
  );
  return [
    'import { basename } from "node:path";',
    `const programs = {\n${programs.join("\n")}\n};`,
    "await programs[basename(process.execPath)]();",
  ].join("\n");
}

async function compile(source: string, outfile: string): Promise<void> {
  try {
    await Bun.build({
      entrypoints: [source],
      // Threads read the package.json beside them to find their libraries.
      compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, autoloadPackageJson: true },
      bytecode: true,
      format: "esm",
      target: "bun",
      plugins: [AS_IN_CHECKOUT],
    });
  } catch (error) {
    const messages = error instanceof AggregateError ? error.errors : [error];
    throw new Error(`The programs do not compile: ${messages.join("\n")}`);
  }
}

/** What a binary does not contain and loads from the checkout: a library of native code, and the scripts of threads. */
const AS_IN_CHECKOUT: Bun.BunPlugin = {
  name: "as-in-checkout",
  setup(build) {
    build.onResolve({ filter: /^(?:@evan\/opus|node-datachannel)$/ }, ({ path, importer }) => ({
      path: Bun.resolveSync(path, dirname(importer)),
      external: true,
    }));
    build.onLoad({ filter: /\/(voice|speech)\/.*\.ts$/ }, async ({ path }) => {
      const script = await Bun.file(path).text();
      return { loader: "ts", contents: script.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};
