import { existsSync } from "node:fs";
import { installer, installPackages } from "./debian.ts";

interface Need {
  /** Returns its path, or null if it is missing. */
  find(): string | null;
  debianPackage: string;
  /** What to do on a machine where it cannot be installed. */
  advice: string;
}

const LIBRARIES = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;

/** Programs that tests and benchmarks use, and that Parley itself does not need. */
const NEEDS = {
  chromium: program("chromium"),
  go: program("go", "golang-go"),
  googleProtos: file("/usr/include/google/protobuf/timestamp.proto", "libprotobuf-dev"),
  grpcPythonPlugin: program("grpc_python_plugin", "protobuf-compiler-grpc"),
  // Chromium without the code that shows a window, which takes a third of a test's CPU time.
  headlessChromium: program(["chromium-headless-shell", "chromium"], "chromium-headless-shell"),
  kamailio: program("kamailio"),
  openssl: program("openssl"),
  opusdec: program("opusdec", "opus-tools"),
  opusenc: program("opusenc", "opus-tools"),
  pgbouncer: program("pgbouncer"),
  php: program("php", "php-cli"),
  pocketSphinx: file(`${LIBRARIES}/libpocketsphinx.so.3`, "libpocketsphinx3"),
  pocketSphinxModel: file("/usr/share/pocketsphinx/model/en-us/en-us.lm.bin", "pocketsphinx-en-us"),
  protoc: program("protoc", "protobuf-compiler"),
  pythonWithGrpc: python("grpc", "python3-grpcio"),
  redis: program(["redis-server", "valkey-server"], "redis-server"),
  sipp: program("sipp", "sip-tester"),
  wrk: program("wrk"),
} satisfies Record<string, Need>;

export type NeedName = keyof typeof NEEDS;

export function isNeed(name: string): name is NeedName {
  return Object.hasOwn(NEEDS, name);
}

export function isMissing(name: NeedName): boolean {
  return NEEDS[name].find() === null;
}

/**
 * Returns the path of a program or file that the tests need: the one on PATH, or else Debian's, installed if this process may.
 * @throws with what is missing, why it could not be installed, and what to do
 */
export async function obtain(name: NeedName): Promise<string> {
  const why = await install([name]);
  const { find, advice, debianPackage } = NEEDS[name];
  const found = find();
  if (found) return found;
  throw new Error(`${advice}, or run as root on Debian to have ${debianPackage} installed${why && ` (${why})`}`);
}

/** Installs Debian's packages of those that are missing, if this process may. @returns why it failed, or "" */
export async function install(names: readonly NeedName[]): Promise<string> {
  const missing = () => names.filter(isMissing).map((name) => NEEDS[name].debianPackage);
  const apt = installer();
  if (missing().length === 0 || !apt) return "";
  return installPackages(apt, () => [...new Set(missing())]).then(
    () => "",
    (error: Error) => error.message,
  );
}

function program(names: string | readonly string[], debianPackage = String(names)): Need {
  const alternatives = [names].flat();
  // Debian has servers in /usr/sbin, which a user's PATH often lacks.
  const find = (name: string) => Bun.which(name) ?? Bun.which(name, { PATH: "/usr/sbin" });
  return {
    find: () => alternatives.map(find).find((path) => path !== null) ?? null,
    debianPackage,
    advice: `${alternatives.join(" or ")} is missing: put it on PATH`,
  };
}

function file(path: string, debianPackage: string): Need {
  return { find: () => (existsSync(path) ? path : null), debianPackage, advice: `${path} is missing: put it there` };
}

/** Debian's Python with a module. */
function python(module: string, debianPackage: string): Need {
  const path = "/usr/bin/python3";
  const has = () => existsSync(path) && Bun.spawnSync([path, "-c", `import ${module}`]).success;
  return {
    find: () => (has() ? path : null),
    debianPackage,
    advice: `The module ${module} for ${path} is missing: install it`,
  };
}
