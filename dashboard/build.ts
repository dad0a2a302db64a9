import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";

const HERE = import.meta.dir;
const BUILDS = join(HERE, "dist");
/** The sources of a build: a change of any of these needs another build. */
const SOURCES = ["src/**/*", "build.ts", "package.json", "../bun.lock", "../services/shared/src/portable/*.ts"];
/** Builds that are kept, because processes of an earlier start may still begin from one. */
const KEPT = 4;

/** The folder with the dashboard built from the current sources; builds it if it is missing. */
export async function builtDashboard(): Promise<string> {
  const folder = join(BUILDS, await digestOfSources());
  if (existsSync(folder)) return folder;
  await mkdir(BUILDS, { recursive: true });
  const draft = await mkdtemp(join(BUILDS, "draft-"));
  try {
    await buildDashboard(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process has just made the same build.
    if (!existsSync(folder)) throw error;
  }
  await removeOldBuilds();
  return folder;
}

/**
 * Builds the page, its scripts and styles with hashed names, and beside each file its compressed forms.
 * @throws AggregateError with the compiler's messages
 */
export async function buildDashboard(folder: string): Promise<void> {
  // Takes long to load, and most starts find the dashboard built.
  const { default: tailwind } = await import("bun-plugin-tailwind");
  const { metafile } = await Bun.build({
    entrypoints: [join(HERE, "src/index.html")],
    outdir: folder,
    splitting: true,
    minify: true,
    publicPath: "/",
    naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    // Bun puts fonts into the style sheet, where they delay the first paint; these are copied instead.
    external: ["/assets/*.woff2"],
    plugins: [tailwind],
    metafile: true,
  });
  const outputs = metafile?.outputs ?? {};
  await withExactWidths(join(folder, "assets"));
  await withEagerFunctions(folder, scriptsOf(outputs, [PAGE_SCRIPT]));
  await writePages(folder, (first) => scriptsOf(outputs, [PAGE_SCRIPT, ...first]));
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(
    files.filter((file) => file.isFile()).map(({ parentPath, name }) => compress(join(parentPath, name))),
  );
}

/**
 * Bun writes `width < 64rem` as a maximum of a thousandth of a pixel less. Chromium rounds that up, so that at 1,024 px both what is for
 * narrower windows and what is for wider ones applied.
 */
async function withExactWidths(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".css")) continue;
    const sheet = Bun.file(join(folder, name));
    await sheet.write((await sheet.text()).replaceAll(/\(max-width:calc\((\d+)rem - \.001px\)\)/g, "(width<$1rem)"));
  }
}

/** Chromium compiles smaller scripts on the page's main thread. */
const COMPILED_ASIDE_BYTES_MIN = 30_000;

/**
 * Has browsers that know the hint compile every function of the large scripts of the first page while they load, aside from the main
 * thread. Otherwise the main thread compiles some 800 functions one by one when they are first called, before it shows the page.
 */
async function withEagerFunctions(folder: string, scripts: readonly string[]): Promise<void> {
  for (const name of scripts) {
    const script = Bun.file(join(folder, name));
    if (script.size >= COMPILED_ASIDE_BYTES_MIN)
      await script.write(`//# allFunctionsCalledOnLoad\n${await script.text()}`);
  }
}

/**
 * Names in each page what a browser would learn of only from the script before it: the fonts, and the page's scripts with what they
 * import. `index.html` is the same everywhere; below `pages` is a page for each address, named for it, with the frame that shows until
 * the scripts run.
 */
async function writePages(folder: string, scriptsFor: (first: readonly string[]) => string[]): Promise<void> {
  const page = Bun.file(join(folder, "index.html"));
  const assets = join(folder, "assets");
  const [font] = await copyFonts(assets);
  const early = await buildEarlyScript(assets);
  const bare = (await page.text()).replaceAll(/<link rel="modulepreload"[^>]*>/g, "");
  const write = async (path: string, { head = "", html = "", scripts = [] as string[] }) => {
    const links = scriptsFor(scripts).map((name) => `<link rel="modulepreload" crossorigin href="/${name}">`);
    const before = `${head}<script src="/assets/${early}"></script>`;
    const after = `<link rel="preload" as="font" type="font/woff2" crossorigin href="/assets/${font}">${links.join("")}`;
    const text = bare
      .replace("</title>", (found) => `${found}${before}`)
      .replace('<script type="module"', (found) => `${after}${found}`)
      .replace("inert></div>", () => `inert>${html}</div>`);
    await Bun.write(join(folder, path), text);
  };
  // Its types are those of browsers.
  const { framesOfPages } = await import(join(HERE, "src/first/frames.tsx"));
  for (const { path, html, head, script } of await framesOfPages())
    await write(`pages/${path === "/" ? "index" : path}.html`, { html, head, scripts: [`src/${script}`] });
  await write("index.html", {});
}

/** Runs before a page is painted. @returns its name */
async function buildEarlyScript(folder: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(HERE, "src/first/early.ts")],
    outdir: folder,
    minify: true,
    format: "iife",
    naming: "[name]-[hash].[ext]",
  });
  return basename(outputs[0]?.path ?? "");
}

const PAGE_SCRIPT = "src/index.html";

/** The file built from these sources, with everything that it imports statically. */
function scriptsOf(outputs: Bun.BuildMetafile["outputs"], sources: readonly string[]): string[] {
  const nameOf = (path: string) => path.replace(/^\.?\//, "");
  const scripts = new Map(Object.entries(outputs).map(([path, output]) => [nameOf(path), output]));
  const isNamed = ({ entryPoint = "" }: Bun.BuildMetafile["outputs"][string]) =>
    sources.some((source) => entryPoint.endsWith(source));
  const found = new Set([...scripts].flatMap(([name, output]) => (/\.js$/.test(name) && isNamed(output) ? name : [])));
  for (const name of found) {
    for (const { path, kind } of scripts.get(name)?.imports ?? [])
      if (kind === "import-statement") found.add(nameOf(path));
  }
  return [...found];
}

/** The style sheet names these files; the version stands in for a hash. @returns their names, the one of most texts first */
async function copyFonts(folder: string): Promise<string[]> {
  const root = join(HERE, "node_modules/@fontsource-variable/inter");
  const { version } = await Bun.file(join(root, "package.json")).json();
  return Promise.all(
    ["latin", "latin-ext"].map(async (subset) => {
      const name = `inter-${subset}-${version}.woff2`;
      await Bun.write(join(folder, name), Bun.file(join(root, `files/inter-${subset}-wght-normal.woff2`)));
      return name;
    }),
  );
}

const ZSTD_LEVEL = 19;

async function compress(path: string): Promise<void> {
  if (/\.(png|woff2)$/.test(path)) return;
  const bytes = await Bun.file(path).bytes();
  const zstd = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } };
  await Bun.write(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  await Bun.write(`${path}.zst`, await promisify(zstdCompress)(bytes, zstd));
}

async function digestOfSources(): Promise<string> {
  const found = await Promise.all(SOURCES.map((pattern) => Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: HERE }))));
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of found.flat().sort()) {
    hash.update(`${path}\n`);
    hash.update(await Bun.file(join(HERE, path)).bytes());
  }
  return hash.digest("hex").slice(0, 16);
}

async function removeOldBuilds(): Promise<void> {
  const builds = (await readdir(BUILDS)).filter((name) => !name.startsWith("draft-"));
  const dated = await Promise.all(
    builds.map(async (name) => ({ name, at: (await Bun.file(join(BUILDS, name, "index.html")).stat()).mtimeMs })),
  );
  const old = dated.sort((a, b) => b.at - a.at).slice(KEPT);
  for (const { name } of old) await rm(join(BUILDS, name), { recursive: true, force: true });
}

if (import.meta.main) console.log(await builtDashboard());
