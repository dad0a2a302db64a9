import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "../..");
/** Where a path that a page names may begin. */
const BASES = ["", "services", "deploy", "deploy/k8s"];
/** Files that an installation creates. */
const MADE_LATER =
  /^\.parley\/|^deploy\/(\.env|providers\.env|compose\.override\.yaml|compose\/secrets)$|^compose\/secrets$/;
const SOURCES = "**/*.{ts,tsx,proto,yaml,sh,py}";
const SOURCE = /\.(ts|sql|proto|ya?ml|json|sh|py|md)$/;
const NOT_OURS = /(^|\/)(node_modules|\.parley)\/|^proto\/gen\//;

const folders = new Set(BASES.flatMap((base) => readdirSync(join(ROOT, base))));
const pages = ["docs/**/*.md", "bench/*.md", "*.md"].flatMap(filesOf).toSorted();

function filesOf(pattern: string): string[] {
  return [...new Glob(pattern).scanSync({ cwd: ROOT })].filter((path) => !NOT_OURS.test(path));
}

async function textOf(path: string): Promise<string> {
  return Bun.file(join(ROOT, path)).text();
}

function withoutCode(page: string): string {
  return page.replaceAll(/^ *```.*?^ *```$/gms, "");
}

/** Whether the file exists and, if it is a page, has that heading. */
async function exists(path: string, anchor?: string): Promise<boolean> {
  if (new Glob(path.replace(/\/$/, "")).scanSync({ cwd: ROOT, onlyFiles: false, dot: true }).next().done) return false;
  return !anchor || anchorsOf(await textOf(path)).includes(anchor);
}

/** Anchors as GitHub derives them from headings. */
function anchorsOf(page: string): string[] {
  const headings = [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("every relative link of %s leads to a file and heading that exist", async (page) => {
  const links = [...withoutCode(await textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const dangling: string[] = [];
  for (const link of links.filter((each) => !/^[a-z]+:/.test(each))) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!(await exists(target, anchor))) dangling.push(link);
  }
  expect(dangling).toEqual([]);
});

test.each(pages)("every path in the repository that %s names exists", async (page) => {
  const spans = [...withoutCode(await textOf(page)).matchAll(/`([\w.*<>/-]+)`/g)].map(([, span = ""]) => span);
  const paths = spans.filter((span) => /^[^/]+\//.test(span) && !MADE_LATER.test(span));
  const missing: string[] = [];
  for (const path of paths.filter((each) => SOURCE.test(each) || folders.has(each.split("/")[0] ?? ""))) {
    const found = await Promise.all(BASES.map((base) => exists(join(base, path.replaceAll(/<[^>]*>/g, "*")))));
    if (!found.includes(true)) missing.push(path);
  }
  expect(missing).toEqual([]);
});

test("there are pages and sources to check", () => {
  expect(pages.length).toBeGreaterThan(20);
  expect(filesOf(SOURCES).length).toBeGreaterThan(500);
});

test("sources cite pages and headings of docs only, and ones that exist", async () => {
  const dangling: string[] = [];
  // A migration never changes once it has landed, not even in its comments.
  for (const source of filesOf(SOURCES)) {
    const text = await textOf(source);
    for (const [citation] of text.matchAll(/(?<![\w/-])(decisions|api)\.md/g)) dangling.push(`${source}: ${citation}`);
    for (const [citation, page = "", anchor] of text.matchAll(/(?<![\w/.-])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)) {
      if (!(await exists(page, anchor))) dangling.push(`${source}: ${citation}`);
    }
  }
  expect(dangling).toEqual([]);
});
