import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { $ } from "bun";

/** An unprivileged user, as in the images. */
const UID = 65532;

export interface Jail {
  /** Runs a program of the jail's root folder, which sees only that folder, /proc and /dev of this machine. */
  run(name: string, env: Record<string, string>, args?: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** The path under which its programs find this absolute path of the root folder. */
  inside(path: string): string;
  remove(): Promise<void>;
}

/**
 * A folder as the only file system of what runs in it, with the C library beside the programs and nothing to write to, which
 * is what an image's container gives. Where the kernel does not allow that, the programs run as they are, in the folder, and the
 * output says so.
 * @param folder with the binaries of every program
 */
export async function makeJail(folder: string): Promise<Jail> {
  for (const library of (await $`ldd ${join(folder, "parley")}`.text()).match(/\/\S+/g) ?? []) {
    await mkdir(join(folder, dirname(library)), { recursive: true });
    await copyFile(library, join(folder, library));
  }
  for (const place of ["proc", "dev", "etc"]) await mkdir(join(folder, place));
  // As in every container.
  await writeFile(join(folder, "etc/hosts"), "127.0.0.1 localhost\n");
  await writeFile(join(folder, "etc/nsswitch.conf"), "hosts: files dns\n");
  const isRoot = process.getuid?.() === 0;
  const enter = [
    ...["unshare", ...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "sh", "-c"],
    // `exec`, so that the process started here is the program itself and gets its signals.
    `mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot ${isRoot ? `--userspec=${UID}:${UID}` : ""} "$0" "$@"`,
    folder,
  ];
  const probe = await $`${enter} /parley --help`.env({ PATH: process.env.PATH }).quiet().nothrow();
  const canEnter = probe.exitCode === 0;
  if (!canEnter)
    console.warn(
      `NOT CONFINED: this machine does not let the programs be shut into their folder (${probe.stderr.toString().trim()}): ` +
        "a file of this machine that they read and no image holds would go unnoticed",
    );
  return {
    run: (name, env, args = []) =>
      Bun.spawn(canEnter ? [...enter, `/${name}`, ...args] : [join(folder, name), ...args], {
        cwd: folder,
        env: { ...env, ...(canEnter && { PATH: process.env.PATH }) },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    inside: (path) => (canEnter ? path : join(folder, path)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
