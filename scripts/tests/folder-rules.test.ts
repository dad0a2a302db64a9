import { expect, test } from "bun:test";
import { crowdedFolders } from "../rules/folder-rules.ts";

const files = (folder: string, count: number, ending = ".ts") =>
  Array.from({ length: count }, (_, at) => `${folder}/file-${at}${ending}`);

test("a folder may have 20 source files, whatever its tests and subfolders have", () => {
  expect(crowdedFolders([...files("a/src", 20), ...files("a/src", 5, ".test.ts"), ...files("a/src/b", 20)])).toEqual(
    [],
  );
});

test("a folder with more is reported with their number", () => {
  expect(crowdedFolders([...files("a", 3), ...files("a/src", 21), ...files("b", 22, ".tsx")])).toEqual([
    "a/src has 21 source files side by side; give those that belong together a folder",
    "b has 22 source files side by side; give those that belong together a folder",
  ]);
});

test("a service may have any number of RPCs, and generated code is not counted", () => {
  expect(crowdedFolders([...files("services/a/src/rpc", 40), ...files("proto/gen/a/v1", 40)])).toEqual([]);
});
