import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apt, exclusively } from "@parley/testkit/programs/debian";
import { $, Glob } from "bun";

export interface DebianPackage {
  name: string;
  /** Debian's name of the release that has it. */
  release: string;
  /** The folder of its programs. */
  folder: string;
  programs: readonly string[];
}

const CACHE = join(import.meta.dir, "../../../deploy/node_modules/.unpacked-programs");

/**
 * Programs of a later Debian than this machine's, unpacked with the libraries they were built for and run on those: nothing is
 * installed, and no right to do so is needed. Kept for the next time.
 * @returns the folder to put on PATH
 * @throws one sentence that says what to do
 */
export async function unpackPrograms(wanted: DebianPackage): Promise<string> {
  const place = join(CACHE, `${wanted.release}-${wanted.name}`);
  const programs = join(place, "programs");
  const there = () => Bun.file(join(programs, wanted.programs[0] ?? "")).exists();
  if (await there()) return programs;
  if (!Bun.which("apt-get")) throw new Error(advice(wanted, "there is no apt-get here to get them with"));
  await mkdir(CACHE, { recursive: true });
  await exclusively(CACHE, async () => {
    // Another process may have unpacked them first.
    if (!(await there())) await unpack(wanted, place);
  });
  return programs;
}

async function unpack(wanted: DebianPackage, place: string): Promise<void> {
  const draft = await mkdtemp(join(CACHE, "draft-"));
  try {
    await download(wanted, draft);
    await writeStarters(wanted, draft, place);
    await rename(draft, place);
  } catch (error) {
    throw new Error(advice(wanted, (error as Error).message));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function advice({ name, release, programs }: DebianPackage, why: string): string {
  return `The tests need ${programs.join(", ")}: put them on PATH (${name} of Debian ${release} could not be had: ${why})`;
}

/** The package and everything it depends on: for apt nothing is installed. */
async function download({ name, release }: DebianPackage, to: string): Promise<void> {
  for (const folder of ["lists/partial", "archives/partial", "files"])
    await mkdir(join(to, folder), { recursive: true });
  const source = join(to, "sources.list");
  await writeFile(join(to, "status"), "");
  const state = options({
    "Dir::State::Lists": join(to, "lists"),
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
    "Acquire::Languages": "none",
  });
  await writeFile(source, `deb ${await mirror(state)} ${release} main\n`);
  const own = options({
    "Dir::Etc::SourceList": source,
    "Dir::Etc::SourceParts": "-",
    "Dir::State::Status": join(to, "status"),
    "Dir::Cache::Archives": join(to, "archives"),
    "Dir::Cache::PkgCache": "",
    "Dir::Cache::SrcPkgCache": "",
    "APT::Install-Recommends": "0",
  });
  await apt(...state, ...own, "update");
  await apt(...state, ...own, "--yes", "--download-only", "install", name);
  for await (const archive of new Glob("*.deb").scan({ cwd: join(to, "archives"), absolute: true }))
    await $`dpkg-deb --extract ${archive} ${join(to, "files")}`.quiet();
  for (const done of ["lists", "archives"]) await rm(join(to, done), { recursive: true });
}

/** The machine's Debian mirror. @param fresh lists for a machine that has none yet */
async function mirror(fresh: readonly string[]): Promise<string> {
  const find = async (...more: string[]) => {
    const told = await apt(
      ...more,
      "indextargets",
      "--format",
      "$(ORIGIN) $(REPO_URI) $(RELEASE)",
      "Identifier: Packages",
    );
    return told.match(/^Debian (\S+) [a-z]+$/m)?.[1];
  };
  const known = await find();
  if (known) return known;
  await apt(...fresh, "update");
  const found = await find(...fresh);
  if (found) return found;
  throw new Error("apt knows no Debian to get it from");
}

/** A wrapper for each program, which starts it with the loader of its own libraries. */
async function writeStarters({ folder, programs }: DebianPackage, draft: string, place: string): Promise<void> {
  const [loader] = await Array.fromAsync(new Glob("usr/lib/*-linux-gnu/ld-linux-*.so.*").scan(join(draft, "files")));
  if (!loader) throw new Error("it came without its loader");
  const at = (path: string) => join(place, "files", path);
  await mkdir(join(draft, "programs"));
  for (const program of programs) {
    const start = `exec ${at(loader)} --library-path ${join(at(loader), "..")} ${at(join(folder, program))} "$@"`;
    await writeFile(join(draft, "programs", program), `#!/bin/sh\n${start}\n`, { mode: 0o755 });
  }
}

function options(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}
