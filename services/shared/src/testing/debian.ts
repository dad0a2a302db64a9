import { existsSync } from "node:fs";
import { $ } from "bun";

/**
 * A program the tests need: the one on PATH, else Debian's, installed when we may.
 * @throws one sentence that says what to do.
 */
export function obtainProgram(program: string, debianPackage: string): Promise<string> {
  // Debian has servers here, which a user's PATH often lacks.
  const find = () => Bun.which(program) ?? Bun.which(program, { PATH: "/usr/sbin" });
  return obtain(find, debianPackage, `${program}: put it on PATH`);
}

/** The same for a file of a Debian package. @throws one sentence that says what to do. */
export function obtainFile(path: string, debianPackage: string): Promise<string> {
  return obtain(() => (existsSync(path) ? path : null), debianPackage, path);
}

/** The same for Debian's Python with a module. @throws one sentence that says what to do. */
export function obtainPython(module: string, debianPackage: string): Promise<string> {
  const python = "/usr/bin/python3";
  const has = () => existsSync(python) && Bun.spawnSync([python, "-c", `import ${module}`]).success;
  return obtain(() => (has() ? python : null), debianPackage, `the module ${module} for ${python}`);
}

async function obtain(find: () => string | null, debianPackage: string, what: string): Promise<string> {
  if (!find() && process.getuid?.() === 0 && Bun.which("apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await $`apt-get update && apt-get install --yes --no-install-recommends ${debianPackage}`
      .env(env)
      .quiet()
      .nothrow();
  }
  const found = find();
  if (found) return found;
  throw new Error(`The tests need ${what}, or run as root on Debian to have ${debianPackage} installed`);
}
