const TESTS = new Bun.Glob(
  "{bench,cli,dashboard,deploy,dev,gateway,proto,scripts,services,testkit,tests}/**/*.test.ts",
);

/** The test files whose path contains one of `paths`, or all if `paths` is empty, ordered by path. */
export async function findTestFiles(paths: readonly string[]): Promise<string[]> {
  const wanted = paths.map((path) => path.replace(/^\.\//, ""));
  const files = await Array.fromAsync(TESTS.scan());
  const found = files.filter((file) => !file.includes("node_modules/"));
  return found.filter((file) => wanted.length === 0 || wanted.some((path) => file.includes(path))).sort();
}
