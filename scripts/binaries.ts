import { link, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PROGRAMS } from "../deploy/src/images/programs.ts";

/** What tests start again and again. The voice service and the stand-in for speech are missing: they load libraries and threads from files. */
const STARTED: Readonly<Record<string, string>> = {
  ...PROGRAMS,
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
  const folder = await mkdtemp(join(tmpdir(), "parley-binaries-"));
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
  const flags = [
    "--compile",
    "--bytecode",
    "--format=esm",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
  ];
  const build = Bun.spawn([process.execPath, "build", ...flags, source, "--outfile", outfile], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors = await build.stderr.text();
  if ((await build.exited) !== 0) throw new Error(`The programs do not compile: ${errors.trim()}`);
}
